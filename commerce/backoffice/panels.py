"""Parts of the overview, each of the app that knows what is in it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """`template` is included in the overview, where it finds what is in `content` as `panel.content`."""

    template: str
    content: dict[str, Any]


# Reads of the account in scope, in a fixed number of statements.
Maker = Callable[[datetime], Panel]

_makers: list[Maker] = []


def shown_on_overview(maker: Maker) -> Maker:
    """Register a part; apps import the module that does so in their `ready()`."""
    _makers.append(maker)
    return maker


def panels(*, now: datetime) -> list[Panel]:
    return [maker(now) for maker in _makers]

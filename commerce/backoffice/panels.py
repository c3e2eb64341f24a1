"""Parts of the overview, contributed by apps."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A part of the overview: `template` is included in the overview and reads `content` as `panel.content`."""

    template: str
    content: dict[str, Any]


# Reads rows of the account in scope, in a fixed number of statements.
Maker = Callable[[datetime], Panel]

_makers: list[Maker] = []


def register_panel(maker: Maker) -> Maker:
    """Register a part of the overview; apps import the registering module in `ready()`."""
    _makers.append(maker)
    return maker


def make_panels(*, now: datetime) -> list[Panel]:
    return [maker(now) for maker in _makers]

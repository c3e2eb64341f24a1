"""Parts of the overview, contributed by apps."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest

from .membership import may


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A part of the overview: `template` is included in the overview and reads `content` as `panel.content`."""

    template: str
    content: dict[str, Any]


# Reads rows of the account in scope, in a fixed number of statements.
Maker = Callable[[datetime], Panel]

_makers: list[tuple[str, Maker]] = []


def register_panel(*, area: str) -> Callable[[Maker], Maker]:
    """Register a part of the overview, for members who may look at an area of scopes.

    Apps import the registering module in `ready()`.
    """

    def register(maker: Maker) -> Maker:
        _makers.append((area, maker))
        return maker

    return register


def make_panels(request: HttpRequest, *, now: datetime) -> list[Panel]:
    return [maker(now) for area, maker in _makers if may(request, f"read_{area}")]

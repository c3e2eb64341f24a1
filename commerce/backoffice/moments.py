"""Entries of the timeline on a row's page."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Model

from .history import actions_on


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """An entry of a timeline; `link` leads to the back office page of its subject."""

    at: datetime
    title: str
    detail: str = ""
    link: str = ""


def staff_moments(row: Model) -> Iterator[Moment]:
    """Yield the staff actions on the row; one statement."""
    for action in actions_on(row):
        yield Moment(at=action.created_at, title=f"By {action.username}", detail=action.summary)

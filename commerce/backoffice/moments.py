"""What has happened to a row, as the timeline on its page shows it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Model

from .history import actions_on


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """`link` leads to the back office's page of what it is about."""

    at: datetime
    title: str
    detail: str = ""
    link: str = ""


def staff_moments(row: Model) -> Iterator[Moment]:
    """What staff did to the row by hand; one statement."""
    for action in actions_on(row):
        yield Moment(at=action.created_at, title=f"By {action.username}", detail=action.summary)

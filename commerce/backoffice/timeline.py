"""Entries of the timeline on a row's page."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Model
from django.utils.translation import gettext as _

from .history import find_actions_on, title_person, translate_summary


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """An entry of a timeline; `link` leads to the back office page of its subject."""

    at: datetime
    title: str
    detail: str = ""
    link: str = ""


def list_staff_entries(row: Model) -> Iterator[TimelineEntry]:
    """Yield the staff actions on the row, with one statement."""
    for action in find_actions_on(row):
        yield TimelineEntry(
            at=action.created_at,
            title=_("By %(person)s") % {"person": title_person(action.username)},
            detail=translate_summary(action),
        )

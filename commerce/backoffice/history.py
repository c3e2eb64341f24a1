"""The log of staff actions, kept per account and shown on the history page of each object."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe

from .audit import Change, to_json
from .membership import OPERATOR_NAME, name_person
from .models import StaffAction


def name_actor(request: HttpRequest) -> str:
    """Return who acts, as it is stored in ledgers and versions: `staff:NAME`."""
    return f"staff:{name_person(request)}"


def record(
    request: HttpRequest,
    rows: Iterable[Model],
    kind: StaffAction.Kind,
    message: str | list[dict[str, Any]] = "",
    *,
    changes: Mapping[int, list[Change]] | None = None,
) -> None:
    """Log an action on each of the rows; `message` is text, or Django's list of changes by a form.

    `changes` has the values before and after, by the row's id.
    """
    if not isinstance(message, str):
        parts = [
            # Django's "object" is left out, because it may contain a person's name.
            (verb, what.get("name", ""), ", ".join(what.get("fields", [])))
            for part in message
            for verb, what in part.items()
        ]
        message = "; ".join(" ".join(filter(None, words)) for words in parts)
    # One statement for a list action on any number of rows.
    StaffAction.objects.bulk_create(
        StaffAction(
            username=name_person(request),
            kind=kind,
            subject=row._meta.label_lower,
            subject_id=row.pk,
            summary=message,
            changes=to_json((changes or {}).get(row.pk, ())),
        )
        for row in rows
    )


def record_one(
    request: HttpRequest,
    *,
    subject: str,
    subject_id: int,
    kind: StaffAction.Kind,
    summary: str,
    changes: Iterable[Change] = (),
) -> None:
    """Log an action on a subject that is given by name and id instead of as a row."""
    record_each(request, subject=subject, kind=kind, summary=summary, changes={subject_id: changes})


def record_operator(row: Model, kind: StaffAction.Kind, summary: str) -> None:
    """Log what an operator did to a row by a command, outside of any page."""
    StaffAction.objects.create(
        username=OPERATOR_NAME,
        kind=kind,
        subject=row._meta.label_lower,
        subject_id=row.pk,
        summary=summary,
    )


def record_each(
    request: HttpRequest,
    *,
    subject: str,
    kind: StaffAction.Kind,
    summary: str,
    changes: Mapping[int, Iterable[Change]],
) -> None:
    """Log an action on several subjects of one kind, given by their ids, each with its own changes."""
    StaffAction.objects.bulk_create(
        StaffAction(
            username=name_person(request),
            kind=kind,
            subject=subject,
            subject_id=subject_id,
            summary=summary,
            changes=to_json(parts),
        )
        for subject_id, parts in changes.items()
    )


def find_actions_on(row: Model) -> QuerySet[StaffAction]:
    """Return the logged actions on a row, newest first."""
    return StaffAction.objects.filter(subject=row._meta.label_lower, subject_id=row.pk).order_by("-pk")


def render_changes(action: StaffAction) -> str:
    """Show the values before and after, one field a line."""
    lines = (
        (change["field"], change["before"] or "-", change["after"] or "-") for change in action.changes or ()
    )
    return format_html_join(mark_safe("<br>"), "{}: {} → {}", lines) or "-"

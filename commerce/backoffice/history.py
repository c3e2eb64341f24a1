"""The log of staff actions, kept per account and shown on the history page of each object."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest

from .models import StaffAction


def name_actor(request: HttpRequest) -> str:
    """Return who acts, as it is stored in ledgers and versions: `staff:NAME`."""
    return f"staff:{request.user.get_username()}"


def record(
    request: HttpRequest,
    rows: Iterable[Model],
    kind: StaffAction.Kind,
    message: str | list[dict[str, Any]] = "",
) -> None:
    """Log an action on each of the rows; `message` is text, or Django's list of changes by a form."""
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
            username=request.user.get_username(),
            kind=kind,
            subject=row._meta.label_lower,
            subject_id=row.pk,
            summary=message,
        )
        for row in rows
    )


def record_one(
    request: HttpRequest, *, subject: str, subject_id: int, kind: StaffAction.Kind, summary: str
) -> None:
    """Log an action on a subject that is given by name and id instead of as a row."""
    StaffAction.objects.create(
        username=request.user.get_username(),
        kind=kind,
        subject=subject,
        subject_id=subject_id,
        summary=summary,
    )


def find_actions_on(row: Model) -> QuerySet[StaffAction]:
    """Return the logged actions on a row, newest first."""
    return StaffAction.objects.filter(subject=row._meta.label_lower, subject_id=row.pk).order_by("-pk")

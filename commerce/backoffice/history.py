"""The log of staff actions, kept per account and shown on the history page of each object."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy, override

from .audit import HIDDEN, Change, to_json
from .display import StrOrPromise
from .membership import OPERATOR_NAME, name_person
from .models import StaffAction
from .summaries import translate_sentence
from .wordings import translate

# What Django calls the changes that a form has made, and the words for some values (audit.py).
_VERBS = {
    "added": gettext_lazy("added: %(names)s"),
    "changed": gettext_lazy("changed: %(names)s"),
    "deleted": gettext_lazy("deleted: %(names)s"),
}
_VALUES = {"yes": gettext_lazy("yes"), "no": gettext_lazy("no"), HIDDEN: gettext_lazy("(not kept)")}


# Functions that return the title of what the log names otherwise, such as a setting.
_title_finders: list[Callable[[str], StrOrPromise | None]] = []


def register_titles(find: Callable[[str], StrOrPromise | None]) -> None:
    """Show what the log names by the titles that `find` returns. Apps call it in their `ready()`."""
    _title_finders.append(find)


def find_title(name: str) -> StrOrPromise | None:
    for find in _title_finders:
        title = find(name)
        if title is not None:
            return title
    return None


def name_actor(request: HttpRequest) -> str:
    """Return who acts, as it is stored in ledgers and versions: `staff:NAME`."""
    return f"staff:{name_person(request)}"


def record(
    request: HttpRequest,
    rows: Iterable[Model],
    kind: StaffAction.Kind,
    message: StrOrPromise | list[dict[str, Any]] = "",
    *,
    changes: Mapping[int, list[Change]] | None = None,
) -> None:
    """Log an action on each of the rows; `message` is text, or Django's list of changes by a form.

    `changes` has the values before and after, by the row's id.
    """
    # The log is read by all of the staff, so it is kept in English, and translated when it is shown.
    with override("en"):
        summary = _summarise(message) if isinstance(message, list) else str(message)
    # One statement for a list action on any number of rows.
    StaffAction.objects.bulk_create(
        StaffAction(
            username=name_person(request),
            kind=kind,
            subject=row._meta.label_lower,
            subject_id=row.pk,
            summary=summary,
            changes=to_json((changes or {}).get(row.pk, ())),
        )
        for row in rows
    )


def _summarise(message: list[dict[str, Any]]) -> str:
    parts = [
        # Django's "object" is left out, because it may contain a person's name.
        (verb, what.get("name", ""), ", ".join(map(str, what.get("fields", []))))
        for part in message
        for verb, what in part.items()
    ]
    return "; ".join(" ".join(filter(None, words)) for words in parts)


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
        (
            _translate_field(change["field"]),
            _translate_value(change["before"]),
            _translate_value(change["after"]),
        )
        for change in action.changes or ()
    )
    return format_html_join(mark_safe("<br>"), "{}: {} → {}", lines) or "-"


def title_person(username: str) -> str:
    """Return a name of the log for the reader: operators have no name of their own."""
    return gettext("An operator") if username == OPERATOR_NAME else username


def translate_summary(action: StaffAction) -> str:
    """Return what the log says about an action, in the reader's language as far as it is no free text."""
    sentence = translate_sentence(action.summary)
    return sentence or "; ".join(_translate_part(part) for part in action.summary.split("; "))


def _translate_part(part: str) -> str:
    verb, _space, names = part.partition(" ")
    if verb not in _VERBS or not names:
        # Changed settings have no verb.
        titles = [find_title(name) for name in part.split(", ")]
        return ", ".join(map(str, titles)) if None not in titles else translate(part)
    fields = ", ".join(_translate_field(name) for name in names.split(", "))
    return _VERBS[verb] % {"names": fields}


def _translate_field(name: str) -> str:
    """Translate the name of a field, in front of which the name of its row may stand."""
    title = find_title(name)
    if title is not None:
        return str(title)
    row, colon, field = name.rpartition(": ")
    translated = translate(field)
    # Forms begin their labels with a capital letter.
    if translated == field and field:
        lower = translate(field[0].lower() + field[1:])
        translated = capfirst(lower) if lower != field[0].lower() + field[1:] else field
    return f"{row}{colon}{translated}"


def _translate_value(text: str) -> str:
    return str(_VALUES.get(text, text)) if text else "-"

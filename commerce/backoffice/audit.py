"""What an action of staff changed: the values of a row's fields before and after."""

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass

import orjson
from babel.numbers import get_currency_precision
from django.db.models import Field, Model
from django.utils.translation import override

# Fields that every change sets, or that tell nothing about the row.
_IGNORED = {"id", "account", "created_at", "updated_at", "version"}
# The log is append-only, so nothing can be erased from it. Of these fields it records only that they changed.
_SECRETS = {"secret", "secret_hash", "previous_secret", "password", "value", "token"}
# The same applies to personal data.
_PERSONS = {
    "customers.customer": {"email", "normalised_email", "first_name", "last_name", "phone", "tags"},
    "discounts.voucher": {"code", "recipient_email"},
    "discounts.discount": {"code"},
    "emails.emaildelivery": {"to_email", "subject", "html", "text", "ctx"},
    "orders.order": {"email", "shipping_address", "billing_address", "customer_note", "cancel_reason"},
    "accounts.staffinvitation": {"username", "email"},
}
HIDDEN = "(not kept)"
_MOST_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Change:
    """A field's values before and after, as text; empty where there was none."""

    field: str
    before: str
    after: str


def describe_changes(before: Model | None, after: Model | None, *, part: str = "") -> list[Change]:
    """Compare two states of a row; None is a row that doesn't exist yet, or no longer.

    `part` names the row if it belongs to another, on whose page it was changed.
    """
    # Written in English, like all of the log.
    with override("en"):
        return _compare(before, after, part=part)


def _compare(before: Model | None, after: Model | None, *, part: str) -> list[Change]:
    row = after if after is not None else before
    if row is None:
        return []
    hidden = _SECRETS | _PERSONS.get(row._meta.label_lower, set())
    changes = []
    for field in row._meta.concrete_fields:
        if field.name in _IGNORED or field.generated:
            continue
        # The page can't have changed a column that it hasn't loaded.
        states = [state for state in (before, after) if state is not None]
        if any(field.attname not in state.__dict__ for state in states):
            continue
        old, new = _write_value(before, field), _write_value(after, field)
        if old != new:
            label = f"{part}: {field.verbose_name}" if part else str(field.verbose_name)
            changes.append(_hide(label, old, new) if field.name in hidden else Change(label, old, new))
    return changes


def describe_settings(
    names: Iterable[str], before: dict[str, object], after: dict[str, object], *, secrets: Collection[str]
) -> list[Change]:
    """Compare settings. Of secrets, record only whether they are set."""
    changes = []
    for name in names:
        old, new = _to_text(before.get(name)), _to_text(after.get(name))
        changes.append(_hide(name, old, new) if name in secrets else Change(name, old, new))
    return changes


def to_json(changes: Iterable[Change]) -> list[dict[str, str]]:
    return [asdict(change) for change in changes]


def _hide(label: str, old: str, new: str) -> Change:
    return Change(label, old and HIDDEN, new and HIDDEN)


def _write_value(row: Model | None, field: Field) -> str:
    if row is None:
        return ""
    value = getattr(row, field.attname)
    if field.attname.endswith("_cents") and value is not None:
        return _write_amount(value, getattr(row, "currency", None))
    if field.attname.endswith("_bp") and value is not None:
        return f"{value / 100:g} %"
    return _to_text(value)


def _write_amount(cents: int, currency: str | None) -> str:
    """Write an amount so that it reads the same in every language: `12.50 EUR`."""
    digits = get_currency_precision(currency) if currency else 0
    number = f"{cents / 10**digits:.{digits}f}" if abs(cents) < 10**15 else str(cents)
    return f"{number} {currency}" if currency else f"{cents} cents"


def _to_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        text = value
    elif isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        text = ", ".join(map(str, value))
    elif isinstance(value, bytes | memoryview):
        text = HIDDEN
    else:
        text = str(value) if not isinstance(value, dict | list) else orjson.dumps(value, default=str).decode()
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} …"

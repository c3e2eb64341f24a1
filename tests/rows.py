"""Create a row of every account-owned model from its fields alone, so that new models are covered automatically."""

import uuid
from datetime import UTC, datetime
from decimal import Decimal
from itertools import count
from typing import Any

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import models

from commerce.tenancy.models import AccountOwned
from discounts.vouchers.codes import make_voucher_code

_numbers = count(1)

# Values that can't be derived from a field's type, by column, or by table and column. Functions are called per row.
_EXAMPLES: dict[str, Any] = {
    "email_template_versions.locale": "de",
    "initial_balance_cents": 1,
    "amount_cents": 1,
    "code": make_voucher_code,
    "expires_at": datetime(2100, 1, 1, tzinfo=UTC),
    "rate_mode": "tiered",
    "role": "manager",
    "staff_invitations.email": "bea@example.com",
    "staff_roles.scopes": ["read_orders"],
    "target": {"task_name": "send_email"},
    "template_key": "order.confirmation",
}


def account_owned_models() -> list[type[AccountOwned]]:
    return [model for model in apps.get_models() if issubclass(model, AccountOwned)]


def make_rows() -> dict[type[AccountOwned], AccountOwned]:
    """Create one row of every account-owned model for the account in scope, using rows that already exist."""
    rows: dict[type[AccountOwned], AccountOwned] = {}
    for model in account_owned_models():
        _row_of(model, rows)
    return rows


def make_row(
    model: type[AccountOwned], rows: dict[type[AccountOwned], AccountOwned] | None = None, **values: Any
) -> AccountOwned:
    """Create a row; required references are taken from `rows` or created."""
    rows = {} if rows is None else rows
    for field in model._meta.concrete_fields:
        if _must_be_given(field) and field.attname not in values:
            values[field.name] = _value_of(field, rows)
    return model._base_manager.create(**values)


def _row_of(model: type[AccountOwned], rows: dict[type[AccountOwned], AccountOwned]) -> AccountOwned:
    if model not in rows:
        rows[model] = model._base_manager.order_by("pk").first() or make_row(model, rows)
    return rows[model]


def _must_be_given(field: models.Field) -> bool:
    fills_itself = (
        field.generated
        or field.has_default()
        or field.null
        or field.primary_key
        or getattr(field, "auto_now", False)
    )
    is_empty_text = isinstance(field, models.CharField | models.TextField) and field.blank
    return not (fills_itself or is_empty_text or getattr(field, "auto_now_add", False))


def _value_of(field: models.Field, rows: dict[type[AccountOwned], AccountOwned]) -> Any:
    if isinstance(field, models.ForeignKey):
        return _row_of(field.related_model, rows)
    for name in (f"{field.model._meta.db_table}.{field.column}", field.column):
        if name in _EXAMPLES:
            example = _EXAMPLES[name]
            return example() if callable(example) else example
    if field.choices:
        return field.choices[0][0]
    if field.column.endswith("_cents"):
        return 0
    return _by_type(field)


def _by_type(field: models.Field) -> Any:
    number = next(_numbers)
    if isinstance(field, models.CharField | models.TextField):
        return f"{number:x}"[-(field.max_length or 8) :]
    if isinstance(field, models.IntegerField):
        return number % 9000 + 1
    values: dict[type[models.Field], Any] = {
        models.JSONField: {},
        ArrayField: [],
        models.DateTimeField: datetime.now(UTC),
        models.BooleanField: False,
        models.BinaryField: b"%d" % number,
        models.UUIDField: uuid.uuid4(),
        models.DecimalField: Decimal(number),
    }
    return values[type(field)]

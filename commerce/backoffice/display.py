"""How values look to staff."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from babel.numbers import format_currency, get_currency_precision
from unfold.decorators import display

_COLOURS = {
    value: colour
    for colour, values in {
        "success": "active paid fulfilled completed succeeded delivered opened clicked converted",
        "info": "open pending processing sent address shipping payment requires_action",
        "warning": "suspended draft inactive disabled unfulfilled refunded depleted skipped",
        "danger": "dead failed bounced revoked cancelled expired abandoned archived closed",
    }.items()
    for value in values.split()
}


def money(cents: int | None, currency: str) -> str:
    """An amount in minor units as text: `money(1990, "EUR")` is `€19.90`."""
    if cents is None:
        return "–"
    amount = Decimal(cents).scaleb(-get_currency_precision(currency))
    return format_currency(amount, currency, locale="en")


def money_column(field: str, title: str) -> Callable[[Any], str]:
    """A column that shows a field of cents in the row's own currency."""

    @display(description=title, ordering=field)
    def column(row: Any) -> str:
        return money(getattr(row, field), row.currency)

    return column


def label_column(field: str, title: str) -> Callable[[Any], tuple[str, str]]:
    """A list column that shows a field of choices as a coloured label."""

    @display(description=title, ordering=field, label=_COLOURS)
    def column(row: Any) -> tuple[str, str]:
        return getattr(row, field), getattr(row, f"get_{field}_display")()

    return column

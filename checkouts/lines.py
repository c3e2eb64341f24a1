"""Lines as they are charged: without tax under a reverse charge. The frozen lines stay unchanged."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Literal

from checkouts.models import Checkout, CheckoutLineItem


@dataclass(frozen=True, slots=True)
class Column:
    """Stands for the value of another column of the same line."""

    name: str


# What these columns of a line contain when it is charged without tax. The others stay as they are.
_UNTAXED: dict[str, Column | Literal[0]] = {
    "tax_rate_bp": 0,
    "unit_price_with_tax_cents": Column("unit_price_without_tax_cents"),
    "line_total_with_tax_cents": Column("line_total_without_tax_cents"),
    "line_tax_cents": 0,
}


def list_charged_lines(checkout: Checkout, lines: Sequence[CheckoutLineItem]) -> list[CheckoutLineItem]:
    """Return the frozen lines, or copies of them without tax. The copies must never be saved."""
    if not checkout.is_reverse_charge:
        return list(lines)
    untaxed_lines = []
    for line in lines:
        # Copied, because the tax comes back if the buyer removes the VAT number.
        untaxed = copy(line)
        for name, value in _UNTAXED.items():
            setattr(untaxed, name, getattr(line, value.name) if isinstance(value, Column) else value)
        untaxed_lines.append(untaxed)
    return untaxed_lines


def write_untaxed_columns(*, table: str) -> dict[str, str]:
    """Write the SQL expressions of the columns that change without tax. `table` is the lines' table or its alias."""
    return {
        name: f"{table}.{value.name}" if isinstance(value, Column) else str(value)
        for name, value in _UNTAXED.items()
    }

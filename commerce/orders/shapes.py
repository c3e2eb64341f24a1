"""Builds the parts of answers that checkouts, orders and their emails share: frozen lines, and totals."""

from collections.abc import Sequence
from typing import Protocol

from .models import FrozenLine, Totals

_AMOUNTS = [field.name for field in Totals._meta.local_fields if field.name.endswith("_cents")]
_LINE_AMOUNTS = [field.name for field in FrozenLine._meta.local_fields if field.name.endswith("_cents")]


class PricedTotals(Protocol):
    """A checkout or an order, which have the columns of `Totals` and a currency."""

    @property
    def currency(self) -> str: ...


def shape_totals(priced: PricedTotals, *, lines: Sequence[FrozenLine] | None = None) -> dict[str, object]:
    """Return the totals object: cents as decimal strings, and the counters if the lines are given."""
    amounts = {name: str(getattr(priced, name)) for name in _AMOUNTS}
    counters = (
        {}
        if lines is None
        else {"line_count": len(lines), "item_count": sum(line.quantity for line in lines)}
    )
    return {"currency": priced.currency, **amounts, **counters}


def shape_line(line: FrozenLine) -> dict[str, object]:
    return {
        "id": str(line.pk),
        "variant_id": str(line.variant_id),
        "product_id": str(line.product_id),
        "sku": line.sku,
        "title": line.title,
        "quantity": line.quantity,
        "custom_attributes": line.custom_attributes,
        "weight_grams": line.weight_grams,
        "tax_rate_bp": line.tax_rate_bp,
        **{name: str(getattr(line, name)) for name in _LINE_AMOUNTS},
    }

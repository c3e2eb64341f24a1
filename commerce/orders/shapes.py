"""Frozen lines and totals as clients get them: the same for checkouts, orders and their emails."""

from typing import Any

from .models import FrozenLine, Totals

_AMOUNTS = [field.name for field in Totals._meta.local_fields if field.name.endswith("_cents")]
_LINE_AMOUNTS = [field.name for field in FrozenLine._meta.local_fields if field.name.endswith("_cents")]


def totals_answer(priced: Any, *, lines: list[Any] | None = None) -> dict[str, object]:
    """Return the totals object: cents as decimal strings, and the counters if the lines are given."""
    amounts = {name: str(getattr(priced, name)) for name in _AMOUNTS}
    counters = (
        {}
        if lines is None
        else {"line_count": len(lines), "item_count": sum(line.quantity for line in lines)}
    )
    return {"currency": priced.currency, **amounts, **counters}


def line_answer(line: Any) -> dict[str, object]:
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

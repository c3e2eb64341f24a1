from typing import Any

from commerce.catalog import queries
from commerce.catalog.models import Variant, VariantPricing
from commerce.errors import NotFound, ValidationFailed


def set_pricing(
    *,
    variant: Variant,
    market_id: int,
    price_cents: int,
    compare_at_price_cents: int | None = None,
    currency: str | None = None,
) -> VariantPricing:
    """Create or replace a variant's price in a market, by default in the market's currency.

    Raises `NotFound` for an unknown market.
    """
    market_currency = _market_currency(market_id)
    pricing = VariantPricing(
        variant=variant,
        market_id=market_id,
        currency=currency or market_currency,
        price_cents=price_cents,
        compare_at_price_cents=compare_at_price_cents,
    )
    VariantPricing.objects.bulk_create(
        [pricing],
        update_conflicts=True,
        unique_fields=["account", "variant", "market"],
        update_fields=["currency", "price_cents", "compare_at_price_cents", "updated_at"],
    )
    return pricing


def add_pricing(
    *, variant: Variant, market_id: int, currency: str | None = None, **amounts: Any
) -> VariantPricing:
    """Create a variant's price in a market. Raises `NotFound`, and `ValidationFailed` if it has one already."""
    fields = {"currency": currency or _market_currency(market_id), **amounts}
    pricing, is_new = VariantPricing.objects.get_or_create(
        variant=variant, market_id=market_id, defaults=fields
    )
    if not is_new:
        raise ValidationFailed.of(
            "market_id",
            "not_unique",
            "The variant already has a price in this market. Reload the page to change it.",
        )
    return pricing


def _market_currency(market_id: int) -> str:
    currency = queries.market_currencies([market_id]).get(market_id)
    if currency is None:
        raise NotFound
    return currency

from commerce.catalog import queries
from commerce.catalog.models import Variant, VariantPricing
from commerce.errors import NotFound


def set_pricing(
    *,
    variant: Variant,
    market_id: int,
    price_cents: int,
    compare_at_price_cents: int | None = None,
    currency: str | None = None,
) -> VariantPricing:
    """The price of a variant in a market, new or changed, in the market's currency unless another is said.

    Raises `NotFound` for an unknown market.
    """
    market_currency = queries.market_currencies([market_id]).get(market_id)
    if market_currency is None:
        raise NotFound
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

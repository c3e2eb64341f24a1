from collections.abc import Mapping
from typing import Any

from commerce.catalog.hooks import find_market_currencies
from commerce.catalog.models import Variant, VariantPricing
from commerce.catalog.rules import PRICING
from commerce.errors import NotFound, ValidationFailed
from commerce.queries import get_or_not_found

from .sizes import lock_product, require_size


def set_pricing(*, variant_id: int, fields: Mapping[str, object]) -> VariantPricing:
    """Set the price of a variant in a market, in the market's currency unless another is given.

    Raises `ValidationFailed`, `NotFound` for an unknown variant or market, and `TooLarge` if the product has too many prices.
    """
    variant = get_or_not_found(Variant.objects, pk=variant_id)
    pricing = VariantPricing(variant=variant, **_check_pricing(fields))
    known = VariantPricing.objects.filter(variant=variant, market=pricing.market_id)
    # A new amount needs no more room.
    product = None if known.exists() else lock_product(variant.product_id)
    # One statement, so that of two requests for a new price neither fails on the unique key.
    VariantPricing.objects.bulk_create(
        [pricing],
        update_conflicts=True,
        unique_fields=["account", "variant", "market"],
        update_fields=["currency", "price_cents", "compare_at_price_cents", "updated_at"],
    )
    if product is not None:
        require_size(product, field="market_id")
    return pricing


def add_pricing(*, variant_id: int, fields: Mapping[str, object]) -> VariantPricing:
    """Set the first price of a variant in a market. Raises as `set_pricing` does, and if there is a price already."""
    variant = get_or_not_found(Variant.objects, pk=variant_id)
    fields = _check_pricing(fields)
    market_id = fields.pop("market_id")
    product = lock_product(variant.product_id)
    # Not an upsert: it would overwrite a price that somebody else has added since the page was opened.
    pricing, is_new = VariantPricing.objects.get_or_create(
        variant=variant, market_id=market_id, defaults=fields
    )
    if not is_new:
        raise ValidationFailed.of(
            "market_id",
            "not_unique",
            "The variant already has a price in this market. Reload the page to change it.",
        )
    require_size(product, field="market_id")
    return pricing


def _check_pricing(fields: Mapping[str, object]) -> dict[str, Any]:
    """Check the fields of a price, and fill in the market's currency if none is given."""
    checked = PRICING.check(fields)
    market_currency = find_market_currencies([checked["market_id"]]).get(checked["market_id"])
    if market_currency is None:
        raise NotFound
    return checked | {"currency": checked.get("currency") or market_currency}

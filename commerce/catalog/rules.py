"""What products, variants and prices must be like, whichever interface they come through."""

from commerce.rules import (
    Fields,
    boolean,
    cents,
    choice,
    currency,
    handle,
    integer,
    items,
    nullable,
    refuse,
    row_id,
    text,
    token,
)

from .models import Product

MAX_SKU = 64
MAX_TITLE = 255
MAX_DESCRIPTION = 50_000
# With these bounds, even the total of a full cart with tax fits into 64 bits.
MAX_PRICE_CENTS = 100_000_000_000
MAX_WEIGHT_GRAMS = 100_000_000
# In one request.
MAX_VARIANTS = 100
MAX_PRICES = 100
# A product is archived only after it was created.
NEW_STATUSES = (Product.Status.DRAFT, Product.Status.ACTIVE)

PRICING = Fields(
    required={"market_id": row_id, "price_cents": cents(max_value=MAX_PRICE_CENTS)},
    optional={
        # The market's, if none is given.
        "currency": nullable(currency),
        "compare_at_price_cents": nullable(cents(max_value=MAX_PRICE_CENTS)),
    },
)


def _check_prices(value: object) -> list[dict[str, object]]:
    prices = items(PRICING, max_length=MAX_PRICES)(value)
    # The unique key would refuse them as well, without naming the field.
    if len({price["market_id"] for price in prices}) < len(prices):
        refuse("duplicate", "A market may have only one price.")
    return prices


_SKU = {"sku": text(MAX_SKU)}
_VARIANT_OPTIONS = {
    "title": text(MAX_TITLE, may_be_blank=True),
    "weight_grams": integer(max_value=MAX_WEIGHT_GRAMS),
    "tax_class": token,
    "track_inventory": boolean,
    "allow_backorder": boolean,
}
VARIANT = Fields(required=_SKU, optional=_VARIANT_OPTIONS)
NEW_VARIANT = Fields(required=_SKU, optional=_VARIANT_OPTIONS | {"pricing": _check_prices})
NEW_VARIANTS = Fields(required={"variants": items(NEW_VARIANT, max_length=MAX_VARIANTS)})

_PRODUCT = {"handle": handle, "title": text(MAX_TITLE)}
_DESCRIPTION = {"description": text(MAX_DESCRIPTION, may_be_blank=True)}
PRODUCT = Fields(required=_PRODUCT, optional=_DESCRIPTION | {"status": choice(Product.Status.values)})
NEW_PRODUCT = Fields(
    required=_PRODUCT,
    optional=_DESCRIPTION
    | {"status": choice(NEW_STATUSES), "variants": items(NEW_VARIANT, max_length=MAX_VARIANTS)},
)

from commerce.errors import NotFound, Refusal, TooLarge


class CartNotActive(Refusal):
    """Carries `cart_status`."""

    status = 409
    code = "cart_not_active"
    title = "The cart is not active"


class CurrencyMismatch(Refusal):
    status = 409
    code = "currency_mismatch"
    title = "The currencies don't match"


class PricingNotFound(Refusal):
    status = 409
    code = "pricing_not_found"
    title = "The variant has no price in the cart's market"


class VariantNotFound(NotFound):
    title = "The variant is unknown or no longer sold"


class CartLimitExceeded(Refusal):
    """Carries `max_lines` and `max_quantity`."""

    status = 422
    code = "cart_limit_exceeded"
    title = "A cart holds at most 500 lines of at most 9,999 units"
    constraints = ("cart_line_items_quantity",)


class MergeMarketMismatch(Refusal):
    status = 409
    code = "merge_market_mismatch"
    title = "Carts of different markets can't be merged"


class CartTooLarge(TooLarge):
    """Limits of the request fields, enforced again by the database."""

    constraints = ("carts_utm_size", "carts_referrer_size", "cart_line_items_attributes_size")

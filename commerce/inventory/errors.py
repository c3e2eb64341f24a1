from commerce.errors import Refusal


class InsufficientInventory(Refusal):
    """Carries `items`: the `variant_id`, `requested` and `available` units of each variant that falls short."""

    status = 409
    code = "insufficient_inventory"
    title = "There is not enough stock"


class StockBelowCommitted(Refusal):
    """Carries `on_hand`, `reserved` and `committed` if the request was about one level."""

    status = 409
    code = "stock_below_committed"
    title = "The stock would fall below what is reserved and committed"
    constraints = ("inventory_levels_not_oversold", "inventory_levels_on_hand")


class LocationHandleTaken(Refusal):
    status = 409
    code = "handle_taken"
    title = "The handle is taken"
    constraints = ("locations_handle",)

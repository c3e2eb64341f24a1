from commerce.errors import Refusal


class OrderNotOpen(Refusal):
    """Carries `order_status`."""

    status = 409
    code = "order_not_open"
    title = "The order can no longer change so"

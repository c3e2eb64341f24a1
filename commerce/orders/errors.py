from commerce.errors import Refusal


class OrderNotOpen(Refusal):
    """Carries `order_status`."""

    status = 409
    code = "order_not_open"
    title = "The order can no longer be changed this way"


class OrderNotPaid(Refusal):
    """Carries `payment_status`."""

    status = 409
    code = "order_not_paid"
    title = "The order is not paid"


class OrderStillOpen(Refusal):
    status = 409
    code = "order_still_open"
    title = "The order is still open"


class RefundUnderWay(Refusal):
    """Carries `dispatch_id`."""

    status = 409
    code = "refund_under_way"
    title = "A gateway is about to refund the order"

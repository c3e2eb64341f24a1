"""Return a cancelled order's uses of discounts, and what gift cards paid for a cancelled or refunded order."""

from commerce.orders.cancellation import Cancellation, first_on_cancellation
from commerce.orders.refunding import Refund, on_refund

from .uses import return_uses
from .vouchers.holds import reverse_redemptions


@first_on_cancellation
def return_uses_and_amounts(cancelled: Cancellation) -> None:
    # Discounts come before gift cards in the order of locks.
    return_uses(order_id=cancelled.order.pk)
    reverse_redemptions(order_id=cancelled.order.pk, actor=cancelled.actor, now=cancelled.now)


@on_refund
def return_amounts(refund: Refund) -> None:
    # The goods were sold, so uses of discounts stay used.
    reverse_redemptions(order_id=refund.order.pk, actor=refund.actor, now=refund.now)

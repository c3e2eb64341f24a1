"""Return a cancelled order's uses of discounts, and the amounts paid by gift cards."""

from commerce.orders.cancellation import Cancellation, first_on_cancellation

from .uses import return_uses
from .vouchers.holds import reverse_redemptions


@first_on_cancellation
def return_uses_and_amounts(cancelled: Cancellation) -> None:
    # Discounts come before gift cards in the order of locks.
    return_uses(order_id=cancelled.order.pk)
    reverse_redemptions(order_id=cancelled.order.pk, actor=cancelled.actor, now=cancelled.now)

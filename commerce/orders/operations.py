"""What happens to an order after it was placed. Each operation is idempotent."""

from datetime import datetime

from commerce.customers.operations import take_back_purchase
from commerce.events.operations import publish
from commerce.inventory.reservations import fulfill, restock
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock
from commerce.wording import mark

from .cancellation import Cancellation, run_first_steps, run_steps
from .errors import OrderNotOpen, OrderNotPaid, OrderStillOpen
from .models import Order
from .notifications import CANCELLED, SHIPPED, enqueue_notice
from .refunding import Refund, check_refund, run_refund_steps
from .rules import CANCELLATION, PARCEL

Status = Order.Status
PaymentStatus = Order.PaymentStatus
FulfillmentStatus = Order.FulfillmentStatus

_NOT_OPEN = {Status.CANCELLED: mark("The order is cancelled."), Status.CLOSED: mark("The order is closed.")}
# The columns that a step may save. Everything else is frozen.
_CHANGING = (
    "status",
    "payment_status",
    "fulfillment_status",
    "cancel_reason",
    "carrier",
    "tracking_number",
    "tracking_url",
    "cancelled_at",
    "paid_at",
    "refunded_at",
    "fulfilled_at",
    "updated_at",
)


def cancel_order(*, order_id: int, reason: str | None = None, actor: str, now: datetime) -> Order:
    """Cancel an order that hasn't been shipped: free its units, and give back discounts and gift cards.

    Raises `ValidationFailed`, `NotFound` and `OrderNotOpen`.
    """
    reason = CANCELLATION.check({"reason": reason})["reason"]
    order = _lock(order_id)
    if order.status == Status.CANCELLED:
        return order
    if order.fulfillment_status == FulfillmentStatus.FULFILLED:
        raise OrderNotOpen("A fulfilled order can't be cancelled.", order_status=order.status)
    # In this order, which is that of the locks: order, customer, discounts and gift cards, stock, tables of other apps.
    take_back_purchase(customer_id=order.customer_id, now=now)
    cancellation = Cancellation(order=order, actor=actor, now=now)
    run_first_steps(cancellation)
    restock(checkout_id=order.checkout_id)
    run_steps(cancellation)
    # What the shop refunds by hand counts as refunded at once. A gateway's refund is recorded once it has been made.
    is_by_hand = order.is_refunded_by_hand and not cancellation.is_refunded_later
    if order.payment_status == PaymentStatus.PAID and is_by_hand:
        _note_refund(order, now=now)
    order.status = Status.CANCELLED
    order.cancelled_at = now
    order.cancel_reason = reason
    _save(order, "order.cancelled", now=now)
    enqueue_notice(CANCELLED, order, now=now)
    return order


def mark_order_paid(*, order_id: int, now: datetime) -> Order:
    """Record that the order was paid. Raises `NotFound` and `OrderNotOpen`."""
    order = _lock(order_id)
    # A repeated request. A cancelled order is refused even if it was paid, since its money has to be refunded.
    if order.payment_status == PaymentStatus.PAID and order.status != Status.CANCELLED:
        return order
    _require_open(order)
    order.payment_status = PaymentStatus.PAID
    order.paid_at = now
    _close_if_paid_and_shipped(order)
    _save(order, "order.paid", now=now)
    return order


def mark_order_refunded(*, order_id: int, actor: str = "refund", now: datetime) -> Order:
    """Record that the customer was refunded, and return to gift cards what they paid.

    Raises `NotFound`, `OrderNotPaid`, `OrderStillOpen`, `RefundUnderWay`.
    """
    order = _lock(order_id)
    if order.payment_status == PaymentStatus.PENDING:
        raise OrderNotPaid("The order has not been paid.", payment_status=order.payment_status)
    # An open order would still be shipped.
    if order.status == Status.OPEN:
        raise OrderStillOpen("Cancel the order first.")
    # Also for an order that is refunded already: earlier releases returned nothing to gift cards.
    run_refund_steps(Refund(order=order, actor=actor, now=now))
    if order.payment_status == PaymentStatus.PAID:
        check_refund(order)
        _note_refund(order, now=now)
        order.save(update_fields=_CHANGING)
    return order


def fulfill_order(
    *,
    order_id: int,
    carrier: str | None = None,
    tracking_number: str | None = None,
    tracking_url: str | None = None,
    now: datetime,
) -> Order:
    """Record that the parcel was shipped: take its units out of stock, and email the tracking to the customer.

    Raises `ValidationFailed`, `NotFound`, `OrderNotOpen`, and `InsufficientInventory` for backorders not yet in stock.
    """
    parcel = PARCEL.check(
        {"carrier": carrier, "tracking_number": tracking_number, "tracking_url": tracking_url}
    )
    order = _lock(order_id)
    if order.fulfillment_status == FulfillmentStatus.FULFILLED:
        return order
    _require_open(order)
    fulfill(checkout_id=order.checkout_id)
    order.fulfillment_status = FulfillmentStatus.FULFILLED
    order.fulfilled_at = now
    for name, value in parcel.items():
        setattr(order, name, value)
    _close_if_paid_and_shipped(order)
    _save(order, "order.fulfilled", now=now)
    enqueue_notice(SHIPPED, order, now=now)
    return order


def make_event_data(order: Order, *, has_number: bool = True) -> dict[str, object]:
    """The data of an order's events. `number_of` puts in the number of an order that is just being placed."""
    return {
        "order_id": order.pk,
        "order_number": order.number if has_number else None,
        "checkout_id": order.checkout_id,
        "customer_id": order.customer_id,
        "currency": order.currency,
        "total_cents": order.total_cents,
    }


def _lock(order_id: int) -> Order:
    # Without the key, so that inserts into ledgers that refer to the order needn't wait.
    return get_or_not_found(lock(Order.objects.all()), pk=order_id)


def _require_open(order: Order) -> None:
    if order.status != Status.OPEN:
        raise OrderNotOpen(_NOT_OPEN.get(Status(order.status)), order_status=order.status)


def _close_if_paid_and_shipped(order: Order) -> None:
    is_paid = order.payment_status == PaymentStatus.PAID
    if is_paid and order.fulfillment_status == FulfillmentStatus.FULFILLED:
        order.status = Status.CLOSED


def _note_refund(order: Order, *, now: datetime) -> None:
    order.payment_status = PaymentStatus.REFUNDED
    order.refunded_at = now


def _save(order: Order, event_type: str, *, now: datetime) -> None:
    order.save(update_fields=_CHANGING)
    publish(type=event_type, data=make_event_data(order), now=now)

"""What happens to an order after it was placed. Every step sent again answers the same and does nothing more."""

from datetime import datetime

from commerce.errors import NotFound
from commerce.events.operations import publish
from commerce.inventory.reservations import fulfill, restock

from .errors import OrderNotOpen
from .models import Order


def cancel_order(*, order_id: int, now: datetime) -> Order:
    """Cancel an order that was not sent: its units go back on sale. Raises `NotFound`, `OrderNotOpen`."""
    order = _lock(order_id)
    if order.status == Order.Status.CANCELLED:
        return order
    if order.fulfillment_status == Order.FulfillmentStatus.FULFILLED:
        raise OrderNotOpen("A fulfilled order can't be cancelled.", order_status=order.status)
    restock(checkout_id=order.checkout_id)
    order.status = Order.Status.CANCELLED
    order.cancelled_at = now
    return _saved(order, "order.cancelled", now=now)


def mark_order_paid(*, order_id: int, now: datetime) -> Order:
    """Note that the money has come. Raises `NotFound`, `OrderNotOpen`."""
    order = _lock(order_id)
    if order.payment_status == Order.PaymentStatus.PAID:
        return order
    _require_not_cancelled(order)
    order.payment_status = Order.PaymentStatus.PAID
    order.paid_at = now
    return _saved(order, "order.paid", now=now)


def fulfill_order(*, order_id: int, now: datetime) -> Order:
    """Note that the parcel has left: its units leave the stock. Raises `NotFound`, `OrderNotOpen`."""
    order = _lock(order_id)
    if order.fulfillment_status == Order.FulfillmentStatus.FULFILLED:
        return order
    _require_not_cancelled(order)
    fulfill(checkout_id=order.checkout_id)
    order.fulfillment_status = Order.FulfillmentStatus.FULFILLED
    order.fulfilled_at = now
    return _saved(order, "order.fulfilled", now=now)


def _lock(order_id: int) -> Order:
    order = Order.objects.select_for_update().filter(pk=order_id).first()
    if order is None:
        raise NotFound
    return order


def _require_not_cancelled(order: Order) -> None:
    if order.status == Order.Status.CANCELLED:
        raise OrderNotOpen("The order is cancelled.", order_status=order.status)


def _saved(order: Order, event_type: str, *, now: datetime) -> Order:
    order.save()
    data = {
        "order_id": str(order.pk),
        "order_number": str(order.number),
        "checkout_id": str(order.checkout_id),
        "customer_id": str(order.customer_id),
        "currency": order.currency,
        "total_cents": str(order.total_cents),
    }
    publish(type=event_type, data=data, now=now)
    return order

"""What has happened to an order, for staff: each app that knows something of it registers a teller."""

from collections.abc import Callable, Iterable, Iterator

from commerce.backoffice.moments import Moment, staff_moments

from .models import Order

# Reads in a number of statements that does not depend on how much there is to tell.
Teller = Callable[[Order], Iterable[Moment]]

_tellers: list[Teller] = []


def tells_of_orders(teller: Teller) -> Teller:
    """Register a teller; apps import the module that does so in their `ready()`."""
    _tellers.append(teller)
    return teller


def timeline_of(order: Order) -> list[Moment]:
    """All that is known, oldest first."""
    moments = [moment for teller in _tellers for moment in teller(order)]
    return sorted(moments, key=lambda moment: moment.at)


@tells_of_orders
def _steps(order: Order) -> Iterator[Moment]:
    tracking = " ".join(filter(None, [order.carrier, order.tracking_number]))
    steps = [
        (order.placed_at, "Placed", order.email),
        (order.paid_at, "Paid", ""),
        (order.fulfilled_at, "Fulfilled", tracking),
        (order.cancelled_at, "Cancelled", order.cancel_reason or ""),
        (order.refunded_at, "Refunded", ""),
    ]
    return (Moment(at=at, title=title, detail=detail) for at, title, detail in steps if at is not None)


tells_of_orders(staff_moments)

"""An order's history for staff. Each app that knows a part of it registers a teller."""

from collections.abc import Callable, Iterable, Iterator

from commerce.backoffice.moments import Moment, staff_moments

from .models import Order

# Its number of statements must not depend on how many entries there are.
Teller = Callable[[Order], Iterable[Moment]]

_tellers: list[Teller] = []


def tells_of_orders(teller: Teller) -> Teller:
    """Register a teller. Apps import the registering module in their `ready()`."""
    _tellers.append(teller)
    return teller


def timeline_of(order: Order) -> list[Moment]:
    """All entries, oldest first."""
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

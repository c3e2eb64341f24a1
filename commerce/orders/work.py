"""What there is to do with orders: a filter of their list, and tasks for the overview and the navigation."""

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from commerce.backoffice.figures import Task, register_task
from commerce.backoffice.filters import ChoiceFilter

from .conditions import TO_FULFIL, TO_PAY, TO_REFUND
from .models import Order

SOLD = Q(status__in=[Order.Status.OPEN, Order.Status.CLOSED])
RETURNED = SOLD & Q(payment_status=Order.PaymentStatus.REFUNDED)


class WorkFilter(ChoiceFilter):
    """What has to be done with an order, and which orders count as sales."""

    title = gettext_lazy("work")
    parameter_name = "work"

    def list_conditions(self) -> dict[str, tuple[str, Q]]:
        return {
            "fulfil": (_("To fulfil"), TO_FULFIL),
            "payment": (_("Payment to check"), TO_PAY),
            "refund": (_("To refund"), TO_REFUND),
            "sold": (_("Sold (not cancelled)"), SOLD),
            "returned": (_("Sold, then refunded"), RETURNED),
        }


_PAGE = "orders.order"

register_task(
    Task(
        title=gettext_lazy("Orders to fulfil"),
        icon="local_shipping",
        page=_PAGE,
        query={"work": "fulfil"},
        condition=TO_FULFIL,
        position=10,
    )
)
register_task(
    Task(
        title=gettext_lazy("Payments to check"),
        icon="payments",
        page=_PAGE,
        query={"work": "payment"},
        condition=TO_PAY,
        position=20,
    )
)
register_task(
    Task(
        title=gettext_lazy("Orders to refund"),
        icon="undo",
        page=_PAGE,
        query={"work": "refund"},
        condition=TO_REFUND,
        position=30,
        is_alarming=True,
    )
)

"""A customer's orders and addresses on the customer's page."""

from django.utils.translation import gettext as _

from commerce.backoffice.display import address_column, format_money, format_time
from commerce.backoffice.timeline import TimelineEntry
from commerce.customers.models import Customer
from commerce.customers.sections import MOST_ROWS, Row, Section, link_to_all, link_to_row, register_section

from .models import Order

_PAGE = "orders.order"


def _find_latest(customer: Customer) -> list[Order]:
    return list(Order.objects.filter(customer=customer).order_by("-pk")[:MOST_ROWS])


@register_section(_PAGE)
def _make_orders(customer: Customer) -> Section:
    orders = _find_latest(customer)
    rows = [
        Row(
            str(order),
            link_to_row(_PAGE, order.pk),
            (
                format_time(order.placed_at),
                order.get_status_display(),
                order.get_payment_status_display(),
                order.get_fulfillment_status_display(),
                format_money(order.total_cents, order.currency),
            ),
        )
        for order in orders
    ]
    entries = [
        TimelineEntry(
            at=order.placed_at,
            title=_("Order %(number)s") % {"number": order},
            detail=format_money(order.total_cents, order.currency),
            link=link_to_row(_PAGE, order.pk),
        )
        for order in orders
    ]
    return Section(
        title=_("Orders"),
        headers=[_("Order"), _("Placed at"), _("Status"), _("Payment"), _("Fulfilment"), _("Total")],
        rows=rows,
        link=link_to_all(_PAGE, customer__id__exact=customer.pk),
        entries=entries,
    )


@register_section(_PAGE)
def _make_addresses(customer: Customer) -> Section:
    """The different addresses of the latest orders, as there is no book of addresses."""
    rows: dict[str, Row] = {}
    for order in _find_latest(customer):
        for name, title in (("shipping_address", _("Shipping")), ("billing_address", _("Billing"))):
            address = address_column(name, title)(order)
            if address != "-":
                rows.setdefault(address, Row(str(order), link_to_row(_PAGE, order.pk), (title, address)))
    return Section(
        title=_("Addresses"), headers=[_("Used in"), _("Kind"), _("Address")], rows=list(rows.values())
    )

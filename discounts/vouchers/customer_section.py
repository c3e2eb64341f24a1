"""Gift cards that were sent to a customer, on the customer's page."""

from django.db.models import Q
from django.utils.translation import gettext as _

from commerce.backoffice.display import format_money, format_time
from commerce.backoffice.timeline import TimelineEntry
from commerce.customers.models import Customer
from commerce.customers.sections import MOST_ROWS, Row, Section, link_to_all, link_to_row, register_section
from discounts.models import Voucher

_PAGE = "discounts.voucher"


@register_section(_PAGE)
def _make_gift_cards(customer: Customer) -> Section:
    # A customer whose address was erased has none. Addresses are compared as typed and as normalised, which uses an
    # index; `upper()` would use none on a table with a policy.
    addresses = {customer.email, customer.normalised_email} - {None, ""}
    received = Q(recipient_email__in=addresses)
    found = list(Voucher.objects.filter(received).order_by("-pk")[:MOST_ROWS]) if addresses else []
    return Section(
        title=_("Gift cards"),
        headers=[_("Gift card"), _("Issued at"), _("Balance"), _("Status")],
        rows=[
            Row(
                str(voucher),
                link_to_row(_PAGE, voucher.pk),
                (
                    format_time(voucher.created_at),
                    format_money(voucher.balance_cents, voucher.currency),
                    voucher.get_status_display(),
                ),
            )
            for voucher in found
        ],
        link=link_to_all(_PAGE, q=customer.email) if customer.email else "",
        entries=[
            TimelineEntry(
                at=voucher.created_at, title=_("Gift card issued"), link=link_to_row(_PAGE, voucher.pk)
            )
            for voucher in found
        ],
    )

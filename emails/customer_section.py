"""A customer's emails on the customer's page."""

from django.utils.translation import gettext as _

from commerce.backoffice.display import format_time
from commerce.backoffice.timeline import TimelineEntry
from commerce.customers.models import Customer
from commerce.customers.sections import MOST_ROWS, Row, Section, link_to_all, link_to_row, register_section
from emails.queries import deliveries

_PAGE = "emails.emaildelivery"


@register_section(_PAGE)
def _make_emails(customer: Customer) -> Section:
    found = list(deliveries(customer=customer).order_by("-pk")[:MOST_ROWS])
    return Section(
        title=_("Emails"),
        headers=[_("Subject"), _("Sent at"), _("To"), _("Status")],
        rows=[
            Row(
                delivery.subject,
                link_to_row(_PAGE, delivery.pk),
                (format_time(delivery.sent_at), delivery.to_email, delivery.get_status_display()),
            )
            for delivery in found
        ],
        link=link_to_all(_PAGE, customer__id__exact=customer.pk),
        entries=[
            TimelineEntry(
                at=delivery.sent_at,
                title=_("Email sent"),
                detail=delivery.subject,
                link=link_to_row(_PAGE, delivery.pk),
            )
            for delivery in found
        ],
    )

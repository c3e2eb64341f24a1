"""Sending a message once more, as a new one."""

from datetime import datetime
from uuid import UUID

from commerce.customers.errors import CustomerRedacted
from commerce.customers.models import Customer
from commerce.customers.notifications import wants_email
from commerce.mail import EmailKind, enqueue_email
from commerce.outbox.queries import find_dispatch
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock
from emails.errors import NotificationDisabled
from emails.models import EmailDelivery
from emails.own_templates.queries import require_template


def resend_delivery(*, delivery_id: int, click: UUID, now: datetime) -> bool:
    """Enqueue a delivery's email again, with the same variables and today's template. False for a repeated click.

    Raises `NotFound`, `TemplateNotFound`, `CustomerRedacted`, `NotificationDisabled`.
    """
    # Locked, so that the second of two clicks sees what the first enqueued, and a redaction waits.
    delivery = get_or_not_found(lock(EmailDelivery.objects.defer("html", "text")), pk=delivery_id)
    idempotency_key = f"{delivery.template_key}/again/{delivery.pk}/{click}"
    if find_dispatch(idempotency_key) is not None:
        return False
    # A deployment may have removed the template.
    require_template(delivery.template_key)
    customer = Customer.objects.filter(pk=delivery.customer_id).first() if delivery.customer_id else None
    # A delivery whose address is empty was erased by a redaction.
    if not delivery.to_email or (customer is not None and customer.redacted_at is not None):
        raise CustomerRedacted
    # The worker would skip it silently; staff should know.
    if customer is not None and not wants_email(customer, delivery.template_key):
        raise NotificationDisabled
    enqueue_email(
        EmailKind[dict[str, object]](delivery.template_key, delivery.reference_type),
        to_email=delivery.to_email,
        customer_id=delivery.customer_id,
        locale=delivery.locale,
        variables=delivery.ctx,
        reference_id=delivery.reference_id,
        idempotency_key=idempotency_key,
        now=now,
    )
    return True

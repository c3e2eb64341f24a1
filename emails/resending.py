"""Sending a message once more, as a new one."""

from datetime import datetime
from uuid import UUID

from commerce.customers.errors import CustomerRedacted
from commerce.customers.models import Customer
from commerce.errors import NotFound
from commerce.outbox.operations import enqueue
from commerce.outbox.queries import dispatch_of_key
from emails.errors import NotificationDisabled
from emails.models import EmailDelivery
from emails.own_templates.queries import require_template
from emails.requests import EmailRequest


def resend_delivery(*, delivery_id: int, click: UUID, now: datetime) -> bool:
    """Queue the message of a delivery anew, with its variables and today's template; False for a repeated click.

    Raises `NotFound`, `TemplateNotFound`, `CustomerRedacted`, `NotificationDisabled`.
    """
    delivery = _locked_delivery(delivery_id)
    idempotency_key = f"{delivery.template_key}/again/{delivery.pk}/{click}"
    if dispatch_of_key(idempotency_key) is not None:
        return False
    require_template(delivery.template_key)
    request = _request_of(delivery)
    _require_reachable(request)
    enqueue(task_name="send_email", payload=request.as_payload(), idempotency_key=idempotency_key, now=now)
    return True


def _locked_delivery(delivery_id: int) -> EmailDelivery:
    """Locked, so that of two clicks one sees what the other did, and a redaction is waited for."""
    found = EmailDelivery.objects.defer("html", "text").filter(pk=delivery_id)
    delivery = found.select_for_update(no_key=True).first()
    if delivery is None:
        raise NotFound
    return delivery


def _request_of(delivery: EmailDelivery) -> EmailRequest:
    return EmailRequest(
        template_key=delivery.template_key,
        to_email=delivery.to_email,
        customer_id=delivery.customer_id,
        locale=delivery.locale,
        ctx=delivery.ctx,
        reference_type=delivery.reference_type,
        reference_id=delivery.reference_id,
    )


def _require_reachable(request: EmailRequest) -> None:
    customer = Customer.objects.filter(pk=request.customer_id).first() if request.customer_id else None
    if not request.to_email or (customer is not None and customer.redacted_at is not None):
        raise CustomerRedacted
    if customer is not None and not request.may_reach(customer):
        raise NotificationDisabled

"""What is known of messages before they are sent, read in one message to the database."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.utils import timezone

from accounts.queries import read_sender, sender_query
from commerce.configuration.queries import read_own_settings_found, settings_query
from commerce.customers.models import Customer
from commerce.customers.queries import customer_query, read_customer
from commerce.outbox.models import OutboxDispatch
from commerce.tenancy.statements import send
from emails.mail_settings import choose_mail_settings
from emails.origins import choose_origin
from emails.own_templates.queries import own_locales_query
from emails.queries import delivery_query
from emails.requests import EmailRequest
from emails.sender import Sender


@dataclass(frozen=True, slots=True)
class Facts:
    """`own_locales` are those in which the account has ever changed the template."""

    is_sent: bool
    customer: Customer | None
    own_locales: Collection[str]


def read_facts(requests: Sequence[tuple[OutboxDispatch, EmailRequest]]) -> tuple[Sender, list[Facts]]:
    """Read the account in scope as a sender, and the facts of each message."""
    template_keys = sorted({request.template_key for _, request in requests})
    account_found, own_settings, *found = send(
        sender_query(),
        settings_query(),
        *(own_locales_query(template_key) for template_key in template_keys),
        *(delivery_query(dispatch) for dispatch, _ in requests),
        *(customer_query(request.customer_id) for _, request in requests),
    )
    account = read_sender(account_found)
    settings = choose_mail_settings(read_own_settings_found(own_settings))
    sender = Sender(account, settings, choose_origin(account, settings, now=timezone.now()))
    own_locales = {
        key: {locale for (locale,) in locales.rows}
        for key, locales in zip(template_keys, found, strict=False)
    }
    deliveries = found[len(template_keys) :][: len(requests)]
    customers = found[-len(requests) :]
    return sender, [
        Facts(bool(delivery.row_count), read_customer(customer), own_locales[request.template_key])
        for (_, request), delivery, customer in zip(requests, deliveries, customers, strict=True)
    ]

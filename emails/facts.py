"""What is known of a message before it is sent, read in one message to the database."""

from collections.abc import Collection
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
    sender: Sender
    own_locales: Collection[str]


def read_facts(dispatch: OutboxDispatch, request: EmailRequest) -> Facts:
    """Read the facts in the account's scope."""
    delivery, customer, account_found, own_settings, locales = send(
        delivery_query(dispatch),
        customer_query(request.customer_id),
        sender_query(),
        settings_query(),
        own_locales_query(request.template_key),
    )
    account = read_sender(account_found)
    settings = choose_mail_settings(read_own_settings_found(own_settings))
    return Facts(
        is_sent=bool(delivery.row_count),
        customer=read_customer(customer),
        sender=Sender(account, settings, choose_origin(account, settings, now=timezone.now())),
        own_locales={locale for (locale,) in locales.rows},
    )

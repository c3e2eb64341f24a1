"""Reads of deliveries."""

from django.db import connection
from django.db.models import QuerySet

from commerce.outbox.models import OutboxDispatch
from commerce.queries import get_or_not_found
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Call, Prepared
from emails.models import EmailDelivery

_HAS_DELIVERY = Prepared(
    """
    SELECT FROM email_deliveries WHERE account_id = %s AND key_space = %s AND idempotency_key = %s
    """,
    reads=True,
)


def deliveries(**filters: object) -> QuerySet[EmailDelivery]:
    """The deliveries of the account in scope, without their bodies."""
    # A body may have two megabytes, and a list has up to 250 deliveries.
    return EmailDelivery.objects.filter(**filters).defer("html", "text", "ctx")


def delivery_query(dispatch: OutboxDispatch) -> Call:
    """Finds a row if the message of the dispatch was sent."""
    return _HAS_DELIVERY.call([current_account_id(), dispatch.key_space, dispatch.idempotency_key])


def get_delivery(delivery_id: int, *, include_body: bool = False) -> EmailDelivery:
    """A delivery of the account in scope; raises `NotFound`."""
    found = EmailDelivery.objects.all() if include_body else deliveries()
    return get_or_not_found(found, pk=delivery_id)


def find_accounts_of_message(provider_message_id: str) -> list[int]:
    """The accounts that sent this message: at most one, if the provider's ids are unique. Called outside of any scope."""
    # Row-level security hides every account's rows here. The function runs as a role that may read these columns.
    with connection.cursor() as cursor:
        cursor.execute("SELECT resolve_provider_message(%s)", [provider_message_id])
        return [row[0] for row in cursor.fetchall()]

from collections.abc import Mapping
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Greatest

from commerce.customers.errors import CustomerRedacted
from commerce.customers.models import Customer, normalise_email
from commerce.customers.redaction import erase_person
from commerce.customers.rules import CUSTOMER, require_known_templates
from commerce.tenancy.locks import Resource, about_to_lock, lock
from commerce.tenancy.scope import current_account_id

# A known customer is returned unchanged: a guest who types an address must not change its owner's data. Something has to
# be updated, though, as `DO NOTHING` would return no row.
_UPSERT_GUEST = """
    INSERT INTO customers (account_id, email, normalised_email, first_name, last_name, phone, locale, country_code,
                           is_guest, tags, notification_preferences, orders_count, created_at, updated_at)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, true, '{}', '{}', 0, %s, %s)
    ON CONFLICT (account_id, normalised_email) DO UPDATE SET updated_at = excluded.updated_at
    RETURNING *
"""


def create_customer(*, fields: Mapping[str, object]) -> Customer:
    """Create a customer. Raises `ValidationFailed`, and `CustomerEmailTaken` by the unique constraint."""
    fields = CUSTOMER.check(fields)
    return Customer.objects.create(normalised_email=normalise_email(fields["email"]), **fields)


def update_customer(*, customer: Customer, changes: Mapping[str, object], now: datetime) -> Customer:
    """Change a customer. Raises as `create_customer` does, and `CustomerRedacted`."""
    changes = CUSTOMER.check(changes, partial=True)
    if "email" in changes:
        changes = changes | {"normalised_email": normalise_email(changes["email"])}
    # A condition of the update, so that no personal data comes back after a redaction at the same time.
    live = Customer.objects.filter(pk=customer.pk, redacted_at__isnull=True)
    if not live.update(updated_at=now, **changes):
        raise CustomerRedacted
    customer.refresh_from_db()
    return customer


def redact_customer(*, customer: Customer, now: datetime) -> Customer:
    """Erase the customer's personal data, in other apps too. The row stays for accounting.

    Repeated, nothing changes.
    """
    # The other apps first: workers, too, lock dispatches and deliveries before the customer.
    erase_person(customer.pk, now=now)
    Customer.objects.filter(pk=customer.pk, redacted_at__isnull=True).update(
        email=None,
        normalised_email=None,
        first_name="",
        last_name="",
        phone="",
        locale=None,
        country_code=None,
        tags=[],
        notification_preferences={},
        redacted_at=now,
        updated_at=now,
    )
    customer.refresh_from_db()
    return customer


def change_preferences(*, customer: Customer, preferences: dict[str, bool]) -> Customer:
    """Set which messages a customer wants; other preferences stay. Raises `ValidationFailed`, `CustomerRedacted`."""
    require_known_templates(preferences)
    # Locked, so that of two changes at once neither undoes the other.
    locked = lock(Customer.objects.all()).get(pk=customer.pk)
    if locked.redacted_at is not None:
        raise CustomerRedacted
    locked.notification_preferences |= preferences
    locked.save(update_fields=["notification_preferences", "updated_at"])
    return locked


def resolve_customer(
    *,
    email: str,
    customer_id: int | None = None,
    first_name: str = "",
    last_name: str = "",
    phone: str = "",
    locale: str | None = None,
    country_code: str | None = None,
    now: datetime,
) -> Customer:
    """Find the customer of an order: the given one, else the one with this address, else a new guest.

    Two guests who complete at once with the same address become one customer.
    """
    # A redacted customer gets no further orders.
    known = Customer.objects.filter(pk=customer_id, redacted_at__isnull=True).first() if customer_id else None
    if known is not None:
        return known
    about_to_lock(Resource.CUSTOMER)
    person = [email.strip(), normalise_email(email), first_name, last_name, phone, locale, country_code]
    (guest,) = Customer.objects.raw(_UPSERT_GUEST, [current_account_id(), *person, now, now])
    return guest


def record_purchase(*, customer_id: int, now: datetime) -> None:
    """Count an order of the customer, as segments filter by the number."""
    about_to_lock(Resource.CUSTOMER)
    Customer.objects.filter(pk=customer_id).update(orders_count=F("orders_count") + 1, updated_at=now)


def take_back_purchase(*, customer_id: int, now: datetime) -> None:
    """Undo `record_purchase` for an order that was cancelled."""
    about_to_lock(Resource.CUSTOMER)
    # An order that didn't come from a checkout was never counted, but can be cancelled.
    Customer.objects.filter(pk=customer_id).update(
        orders_count=Greatest(F("orders_count") - 1, 0), updated_at=now
    )

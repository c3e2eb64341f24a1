from collections.abc import Mapping
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Greatest

from commerce.customers.errors import CustomerRedacted
from commerce.customers.models import Customer, normalise_email
from commerce.customers.redaction import erase_person
from commerce.customers.rules import CUSTOMER, check_preferences
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import Resource, about_to_lock, lock
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, send

# A redacted customer gets no further orders.
_COUNT_ORDER_OF_KNOWN = Prepared("""
    UPDATE customers SET orders_count = orders_count + 1, updated_at = %(now)s
     WHERE account_id = %(account_id)s AND id = %(customer_id)s AND redacted_at IS NULL
    RETURNING id
""")
# Changes nothing else of a known customer: a guest who types somebody's address must not change that person's data.
_COUNT_ORDER_OF_GUEST = Prepared("""
    INSERT INTO customers (account_id, email, normalised_email, first_name, last_name, phone, locale, country_code,
                           is_guest, tags, notification_preferences, orders_count, created_at, updated_at)
    VALUES (%(account_id)s, %(email)s, %(normalised_email)s, %(first_name)s, %(last_name)s, %(phone)s, %(locale)s,
            %(country_code)s, true, '{}', '{}', 1, %(now)s, %(now)s)
    ON CONFLICT (account_id, normalised_email) DO UPDATE
    SET orders_count = customers.orders_count + 1, updated_at = excluded.updated_at
    RETURNING id
""")


def create_customer(*, fields: Mapping[str, object]) -> Customer:
    """Create a customer. Raises `ValidationFailed`, and `CustomerEmailTaken` through the unique key."""
    fields = CUSTOMER.check(fields)
    return Customer.objects.create(normalised_email=normalise_email(fields["email"]), **fields)


def update_customer(*, customer_id: int, changes: Mapping[str, object], now: datetime) -> Customer:
    """Change a customer. Raises as `create_customer` does, `NotFound`, and `CustomerRedacted`."""
    changes = CUSTOMER.check(changes, partial=True)
    if "email" in changes:
        changes = changes | {"normalised_email": normalise_email(changes["email"])}
    # A condition of the update, so that no personal data comes back after a redaction at the same time.
    live = Customer.objects.filter(pk=customer_id, redacted_at__isnull=True)
    is_changed = live.update(updated_at=now, **changes)
    customer = get_or_not_found(Customer.objects, pk=customer_id)
    if not is_changed:
        raise CustomerRedacted
    return customer


def redact_customer(*, customer_id: int, now: datetime) -> Customer:
    """Erase the customer's personal data, in other apps too. The row stays for accounting.

    Repeated, nothing changes. Raises `NotFound`.
    """
    # The other apps first: workers, too, lock dispatches and deliveries before the customer.
    erase_person(customer_id, now=now)
    Customer.objects.filter(pk=customer_id, redacted_at__isnull=True).update(
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
    return get_or_not_found(Customer.objects, pk=customer_id)


def change_preferences(*, customer_id: int, preferences: Mapping[str, object]) -> Customer:
    """Set which messages a customer wants; other preferences stay.

    Raises `ValidationFailed`, `NotFound`, `CustomerRedacted`.
    """
    checked = check_preferences(preferences)
    # Locked, so that of two changes at once neither undoes the other.
    locked = get_or_not_found(lock(Customer.objects.all()), pk=customer_id)
    if locked.redacted_at is not None:
        raise CustomerRedacted
    locked.notification_preferences |= checked
    locked.save(update_fields=["notification_preferences", "updated_at"])
    return locked


def record_purchase(
    *,
    email: str,
    customer_id: int | None = None,
    first_name: str = "",
    last_name: str = "",
    phone: str = "",
    locale: str | None = None,
    country_code: str | None = None,
    now: datetime,
) -> int:
    """Find the customer of an order, and count it, as segments filter by the number. Return the customer's id.

    It is the given one, else the one with this address, else a new guest. Two guests who complete at once with the same
    address become one customer.
    """
    about_to_lock(Resource.CUSTOMER)
    account_id = current_account_id()
    if customer_id is not None:
        parameters = {"account_id": account_id, "customer_id": customer_id, "now": now}
        (known,) = send(_COUNT_ORDER_OF_KNOWN.call(parameters))
        if known.rows:
            return customer_id
    guest = {
        "account_id": account_id,
        "email": email.strip(),
        "normalised_email": normalise_email(email),
        "first_name": first_name,
        "last_name": last_name,
        "phone": phone,
        "locale": locale,
        "country_code": country_code,
        "now": now,
    }
    (found,) = send(_COUNT_ORDER_OF_GUEST.call(guest))
    return int(found.rows[0][0])


def take_back_purchase(*, customer_id: int, now: datetime) -> None:
    """Undo `record_purchase` for an order that was cancelled."""
    about_to_lock(Resource.CUSTOMER)
    # An order that didn't come from a checkout was never counted, but can be cancelled.
    Customer.objects.filter(pk=customer_id).update(
        orders_count=Greatest(F("orders_count") - 1, 0), updated_at=now
    )

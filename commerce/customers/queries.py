from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.db.models import BigIntegerField, F, QuerySet, Sum, Value
from django.db.models.functions import Cast, Least

from commerce.queries import get_or_not_found, sum_up
from commerce.tenancy.instances import Columns
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Call, Prepared, Result, send

from .models import Customer, Segment, normalise_email

_LARGEST = 2**63 - 1
_COLUMNS = Columns(Customer, "customers")
_FIND = Prepared(
    f"SELECT {_COLUMNS.sql} FROM customers WHERE account_id = %s AND id = %s",  # noqa: S608
    reads=True,
)
_FIND_REDACTED = Prepared(
    "SELECT id FROM customers WHERE account_id = %s AND id = ANY (%s) AND redacted_at IS NOT NULL", reads=True
)


def customers(*, email: str | None = None) -> QuerySet[Customer]:
    """The customers of the account in scope, or the one with an address, compared case-insensitively."""
    if email is None:
        return Customer.objects.all()
    return Customer.objects.filter(normalised_email=normalise_email(email))


def get_customer(customer_id: int) -> Customer:
    """A customer of the account in scope, with `total_spent_cents`; raises `NotFound`."""
    return get_or_not_found(with_spending(customers()), pk=customer_id)


def with_spending(rows: QuerySet[Customer]) -> QuerySet[Customer]:
    """Add `total_spent_cents`: what their orders come to, in the account's default currency, without cancelled orders.

    Orders in other currencies don't count, as amounts are never converted.
    """
    # Summed when read instead of stored: the default currency may change. By name, because orders import customers.
    orders = apps.get_model("orders", "Order").objects.exclude(status="cancelled")
    in_default = orders.filter(currency=F("account__default_currency"))
    # An overflow of 64 bits would refuse every answer about the customer.
    capped = Least(sum_up(in_default, "customer", Sum("total_cents")), Value(_LARGEST))
    # mypy's plugin refuses an annotation that the model declares.
    untyped: Any = rows
    return untyped.annotate(total_spent_cents=Cast(capped, BigIntegerField()))


def list_spending(customer: Customer) -> list[tuple[str, int]]:
    """What a customer's orders come to in each currency, in cents, without cancelled orders."""
    orders = apps.get_model("orders", "Order").objects.exclude(status="cancelled").filter(customer=customer)
    sums = orders.order_by("currency").values_list("currency").annotate(total=Sum("total_cents"))
    return [(currency, int(total)) for currency, total in sums]


def find_redacted(customer_ids: Iterable[int]) -> set[int]:
    """Those of the customers whose personal data was erased. An unknown customer's wasn't."""
    wanted = sorted(set(customer_ids))
    if not wanted:
        return set()
    (found,) = send(_FIND_REDACTED.call([current_account_id(), wanted]))
    return {customer_id for (customer_id,) in found.rows}


def customer_query(customer_id: int | None) -> Call:
    """Finds a customer of the account in scope, and none for None. Read it with `read_customer`."""
    return _FIND.call([current_account_id(), customer_id])


def read_customer(found: Result) -> Customer | None:
    return next(iter(_COLUMNS.read(found.rows)), None)


def segments() -> QuerySet[Segment]:
    """The segments of the account in scope."""
    return Segment.objects.all()


def get_segment(segment_id: int) -> Segment:
    """A segment of the account in scope; raises `NotFound`."""
    return get_or_not_found(segments(), pk=segment_id)

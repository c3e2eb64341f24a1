from datetime import datetime
from typing import Any

from django.db.models import QuerySet, Sum
from django.db.models.functions import Coalesce

from commerce.caseless import matches_caseless
from commerce.queries import get_or_not_found, sum_up
from commerce.sizes import BytesOf

from .models import Order, OrderLineItem

# The columns of a line in an answer, without its custom attributes.
_LINE_BYTES = 500


def orders(
    *,
    email: str | None = None,
    placed_at_min: datetime | None = None,
    placed_at_max: datetime | None = None,
    **equal: Any,
) -> QuerySet[Order]:
    """The account's orders with their lines, filtered. `equal` are columns and the values that they must have.

    Emails are compared case-insensitively; both bounds of `placed_at` are inclusive.
    """
    ranges = {"placed_at__gte": placed_at_min, "placed_at__lte": placed_at_max}
    given = {lookup: value for lookup, value in ranges.items() if value is not None}
    found = Order.objects.filter(**equal, **given).prefetch_related("line_items")
    return found if email is None else found.filter(matches_caseless("email", email))


def bytes_of_lines() -> Coalesce:
    """The size of an order's lines in an answer, for each order of a page."""
    size = Sum(BytesOf("title", "custom_attributes") + _LINE_BYTES)
    return sum_up(OrderLineItem.objects.all(), "order", size)


def get_order(**lookup: object) -> Order:
    """One order by id or token, with its lines; raises `NotFound`."""
    return get_or_not_found(Order.objects.prefetch_related("line_items"), **lookup)


def orders_of(*, account: str, email: str, customer: str) -> str:
    """SQL for an EXISTS in another app's statement: a person's orders, without cancelled ones.

    The arguments are SQL expressions; `email` refers to no column. An order is a person's by its email or its customer,
    each of which is looked up in its own index.
    """
    return f"""
        SELECT FROM orders
         WHERE orders.account_id = {account} AND orders.status <> 'cancelled' AND orders.email_key = upper({email})
         UNION ALL
        SELECT FROM orders
         WHERE orders.account_id = {account} AND orders.status <> 'cancelled' AND orders.customer_id = {customer}
    """  # noqa: S608  the arguments are constants of their callers

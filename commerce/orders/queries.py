from typing import Any

from django.db.models import QuerySet

from commerce.errors import NotFound

from .models import Order


def orders(filters: dict[str, Any]) -> QuerySet[Order]:
    """The account's orders with their lines; an email is compared without regard to case."""
    email = filters.pop("email", None)
    found = Order.objects.filter(**filters).prefetch_related("line_items")
    return found if email is None else found.filter(email__iexact=email)


def get_order(**lookup: Any) -> Order:
    """One order by id or token, with its lines; raises `NotFound`."""
    order = Order.objects.filter(**lookup).prefetch_related("line_items").first()
    if order is None:
        raise NotFound
    return order

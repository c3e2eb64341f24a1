from collections.abc import Collection
from typing import TypeVar

from django.db.models import Model, QuerySet

from commerce.errors import NotFound

from .models import Customer, Segment, normalise_email
from .segments import matches

M = TypeVar("M", bound=Model)


def customers(*, email: str | None = None) -> QuerySet[Customer]:
    """The customers of the account in scope, or the one with an address, compared case-insensitively."""
    if email is None:
        return Customer.objects.all()
    return Customer.objects.filter(normalised_email=normalise_email(email))


def get_customer(customer_id: int) -> Customer:
    """A customer of the account in scope; raises `NotFound`."""
    return _found(customers().filter(pk=customer_id))


def is_redacted(customer_id: int) -> bool:
    """Whether the customer's personal data was erased; False for an unknown customer."""
    return customers().filter(pk=customer_id, redacted_at__isnull=False).exists()


def segments() -> QuerySet[Segment]:
    """The segments of the account in scope."""
    return Segment.objects.all()


def get_segment(segment_id: int) -> Segment:
    """A segment of the account in scope; raises `NotFound`."""
    return _found(segments().filter(pk=segment_id))


def segments_with(customer: Customer, *, among: Collection[int]) -> set[int]:
    """Which of these segments the customer belongs to, in one statement."""
    named = segments().filter(pk__in=among)
    return {segment.pk for segment in named if matches(segment.filter, customer)}


def _found(rows: QuerySet[M]) -> M:
    row = rows.first()
    if row is None:
        raise NotFound
    return row

from django.db.models import QuerySet

from commerce.queries import get_or_not_found

from .models import Customer, Segment, normalise_email


def customers(*, email: str | None = None) -> QuerySet[Customer]:
    """The customers of the account in scope, or the one with an address, compared case-insensitively."""
    if email is None:
        return Customer.objects.all()
    return Customer.objects.filter(normalised_email=normalise_email(email))


def get_customer(customer_id: int) -> Customer:
    """A customer of the account in scope; raises `NotFound`."""
    return get_or_not_found(customers(), pk=customer_id)


def is_redacted(customer_id: int) -> bool:
    """Whether the customer's personal data was erased; False for an unknown customer."""
    return customers().filter(pk=customer_id, redacted_at__isnull=False).exists()


def segments() -> QuerySet[Segment]:
    """The segments of the account in scope."""
    return Segment.objects.all()


def get_segment(segment_id: int) -> Segment:
    """A segment of the account in scope; raises `NotFound`."""
    return get_or_not_found(segments(), pk=segment_id)

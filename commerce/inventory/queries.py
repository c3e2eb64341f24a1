from django.db.models import QuerySet

from commerce.queries import get_or_not_found

from .models import InventoryLevel, Location


def locations() -> QuerySet[Location]:
    """The locations of the account in scope."""
    return Location.objects.all()


def get_location(location_id: int) -> Location:
    """A location of the account in scope; raises `NotFound`."""
    return get_or_not_found(locations(), pk=location_id)


def levels(*, variant_id: int | None = None, location_id: int | None = None) -> QuerySet[InventoryLevel]:
    """Stock levels, optionally of one variant, one location, or both."""
    wanted = {"variant_id": variant_id, "location_id": location_id}
    return InventoryLevel.objects.filter(**{name: value for name, value in wanted.items() if value})

from django.db.models import QuerySet

from commerce.errors import NotFound

from .models import InventoryLevel, Location


def locations() -> QuerySet[Location]:
    """The locations of the account in scope."""
    return Location.objects.all()


def get_location(location_id: int) -> Location:
    """A location of the account in scope; raises `NotFound`."""
    location = locations().filter(pk=location_id).first()
    if location is None:
        raise NotFound
    return location


def levels(*, variant_id: int | None = None, location_id: int | None = None) -> QuerySet[InventoryLevel]:
    """Stock levels, optionally of one variant, one location, or both."""
    wanted = {"variant_id": variant_id, "location_id": location_id}
    return InventoryLevel.objects.filter(**{name: value for name, value in wanted.items() if value})

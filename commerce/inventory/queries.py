from django.db.models import QuerySet

from commerce.errors import NotFound

from .models import InventoryLevel, Location


def locations() -> QuerySet[Location]:
    """The places of stock of the account in scope."""
    return Location.objects.all()


def get_location(location_id: int) -> Location:
    """A place of stock of the account in scope; raises `NotFound`."""
    location = locations().filter(pk=location_id).first()
    if location is None:
        raise NotFound
    return location


def levels(*, variant_id: int | None = None, location_id: int | None = None) -> QuerySet[InventoryLevel]:
    """The levels of a variant, of a location, of both, or all."""
    wanted = {"variant_id": variant_id, "location_id": location_id}
    return InventoryLevel.objects.filter(**{name: value for name, value in wanted.items() if value})

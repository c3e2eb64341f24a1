from .models import Location


def create_location(*, handle: str, name: str, priority: int = 1, is_active: bool = True) -> Location:
    """A new place of stock. Raises `LocationHandleTaken` through the unique key."""
    return Location.objects.create(handle=handle, name=name, priority=priority, is_active=is_active)

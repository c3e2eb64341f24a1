from collections.abc import Mapping
from datetime import datetime

from django.db.models import Q

from commerce.catalog.models import Variant
from commerce.errors import ValidationFailed
from commerce.queries import get_or_not_found

from .errors import StockBelowCommitted
from .levels import ensure_levels, lock_levels
from .models import InventoryAdjustment, InventoryLevel, Location
from .rules import ADJUSTMENT, LOCATION


def create_location(*, fields: Mapping[str, object]) -> Location:
    """Create a location. Raises `ValidationFailed`, and `LocationHandleTaken` through the unique key."""
    return Location.objects.create(**LOCATION.check(fields))


def update_location(*, location_id: int, changes: Mapping[str, object]) -> Location:
    """Change a location. Raises as `create_location` does, and `NotFound`."""
    location = get_or_not_found(Location.objects, pk=location_id)
    changes = LOCATION.check(changes, partial=True)
    location.save_changes(changes)
    return location


def adjust_level(
    *, variant_id: int, location_id: int, delta: int, reason: str, now: datetime
) -> InventoryLevel:
    """Add units on hand or remove them, and record the reason.

    Raises `ValidationFailed`, also for unknown ids, and `StockBelowCommitted`.
    """
    ADJUSTMENT.check({"variant_id": variant_id, "location_id": location_id, "delta": delta, "reason": reason})
    places = {
        "variant_id": Variant.objects.filter(pk=variant_id),
        "location_id": Location.objects.filter(pk=location_id),
    }
    unknown = [field for field, rows in places.items() if not rows.exists()]
    if unknown:
        raise ValidationFailed.unknown(*unknown)
    ensure_levels(location_id=location_id, variant_ids=[variant_id], now=now)
    (level,) = lock_levels(Q(location_id=location_id, variant_id=variant_id))
    on_hand = level.on_hand + delta
    # The constraints would refuse it as well, but couldn't tell the client the numbers.
    if not level.is_covered_by(on_hand):
        raise StockBelowCommitted(on_hand=level.on_hand, reserved=level.reserved, committed=level.committed)
    level.on_hand = on_hand
    level.save(update_fields=["on_hand", "updated_at"])
    InventoryAdjustment.objects.create(level=level, delta=delta, reason=reason, on_hand_after=on_hand)
    return level

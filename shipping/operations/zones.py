from collections.abc import Mapping
from datetime import datetime

from shipping.errors import ZoneInUse
from shipping.locks import lock_zone
from shipping.models import LIVE, ShippingMethod, ShippingZone
from shipping.queries import require_market
from shipping.rules import ZONE


def create_zone(*, fields: Mapping[str, object]) -> ShippingZone:
    """Create a zone. Raises `ValidationFailed`, also for an unknown market, and `HandleTaken` from the constraint."""
    fields = ZONE.check(fields)
    require_market(fields.get("market_id"))
    return ShippingZone.objects.create(**fields)


def update_zone(*, zone_id: int, changes: Mapping[str, object]) -> ShippingZone:
    """Change a live zone. Raises `NotFound`, and whatever `create_zone` raises."""
    changes = ZONE.check(changes, partial=True)
    zone = lock_zone(zone_id)
    require_market(changes.get("market_id"))
    for name, value in changes.items():
        setattr(zone, name, value)
    zone.save(update_fields=[*changes, "updated_at"])
    return zone


def delete_zone(*, zone_id: int, now: datetime) -> None:
    """Delete a zone that has no methods left. Raises `NotFound` and `ZoneInUse`."""
    # A method enters a zone only while the zone is locked, so none can come in after the check.
    zone = lock_zone(zone_id)
    if ShippingMethod.objects.filter(LIVE, zone=zone).exists():
        raise ZoneInUse
    zone.deleted_at = now
    zone.save(update_fields=["deleted_at"])

"""Stock levels: creating missing ones, and locking them in one order."""

from collections.abc import Collection
from datetime import datetime

from django.db import connection
from django.db.models import Q

from commerce.catalog.hooks import on_backorder_change
from commerce.catalog.models import Variant
from commerce.tenancy.locks import Resource, about_to_lock, lock
from commerce.tenancy.scope import current_account_id

from .models import InventoryLevel

# The lock orders this against changes of the variant, so that the copied flag is never stale.
_INSERT_MISSING = """
    INSERT INTO inventory_levels
           (account_id, location_id, variant_id, on_hand, reserved, committed, allow_backorder, updated_at)
    SELECT v.account_id, %s::bigint, v.id, 0, 0, 0, v.allow_backorder OR NOT v.track_inventory, %s
      FROM variants v
     WHERE v.account_id = %s AND v.id = ANY(%s::bigint[])
     ORDER BY v.id
       FOR SHARE
        ON CONFLICT (account_id, location_id, variant_id) DO NOTHING
"""


def ensure_levels(*, location_id: int, variant_ids: Collection[int], now: datetime) -> None:
    """Create missing levels at a location, with no units. Call it before locking any level.

    It locks variants, which come first in the order of locks.
    """
    about_to_lock(Resource.VARIANT)
    with connection.cursor() as cursor:
        cursor.execute(_INSERT_MISSING, [location_id, now, current_account_id(), sorted(variant_ids)])


@on_backorder_change
def copy_backorder_rule(variant: Variant, now: datetime) -> None:
    """Copy a variant's rule to its stock levels, so that a check constraint can cover it within each row."""
    locked = lock_levels(Q(variant_id=variant.pk))
    # A level that is being created waits for the variant's lock, and copies the new rule itself.
    levels = InventoryLevel.objects.filter(pk__in=[level.pk for level in locked])
    levels.update(allow_backorder=variant.may_oversell, updated_at=now)


def lock_levels(condition: Q) -> list[InventoryLevel]:
    """Lock levels ordered by variant and id. Everyone locks in this order, so there are no deadlocks."""
    levels = lock(InventoryLevel.objects.filter(condition), keys_too=True)
    return list(levels.order_by("variant_id", "pk"))

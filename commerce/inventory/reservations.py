"""Stock held by checkouts and taken by orders. Each operation is idempotent, by the status of the reservations.

All reservations of a checkout change together, and the number of statements doesn't depend on how many
there are. Callers have locked the checkout or order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Q, QuerySet

from commerce.tenancy.scope import current_account_id

from .errors import InsufficientInventory
from .levels import ensure_levels, lock_levels
from .models import InventoryLevel, Reservation

Status = Reservation.Status

# The wanted variants that are tracked, the location to take stock from, whether it has a level of the variant, and whether
# the checkout already holds the units. In order of variants, in which levels are locked.
_PLAN = """
    SELECT v.id, v.allow_backorder, place.id, l.id IS NOT NULL,
           EXISTS (SELECT FROM inventory_reservations r
                    WHERE r.account_id = v.account_id AND r.checkout_id = %s AND r.status <> 'released')
      FROM variants v
      LEFT JOIN LATERAL (
           SELECT p.id FROM locations p
            WHERE p.account_id = v.account_id AND p.is_active
            ORDER BY p.priority, p.id
            LIMIT 1) AS place ON true
      LEFT JOIN inventory_levels l
        ON l.account_id = v.account_id AND l.location_id = place.id AND l.variant_id = v.id
     WHERE v.account_id = %s AND v.id = ANY(%s::bigint[]) AND v.track_inventory
     ORDER BY v.id
"""
_RESERVE = """
    UPDATE inventory_levels l
       SET reserved = l.reserved + taken.quantity, updated_at = %s
      FROM unnest(%s::bigint[], %s::bigint[]) AS taken (level_id, quantity)
     WHERE l.account_id = %s AND l.id = taken.level_id
"""
_MOVE = """
    WITH moved AS (
        UPDATE inventory_reservations
           SET status = %s, updated_at = now()
         WHERE account_id = %s AND checkout_id = ANY(%s::bigint[]) AND status = %s
     RETURNING level_id, quantity
    ), sums AS (
        SELECT level_id, sum(quantity)::bigint AS quantity FROM moved GROUP BY level_id
    )
    UPDATE inventory_levels l
       SET {changes}, updated_at = now()
      FROM sums
     WHERE l.account_id = %s AND l.id = sums.level_id
"""
# These units are being shipped, so a lower count must have been wrong: correct it first.
_COUNT_UP = """
    WITH counted AS (
        UPDATE inventory_levels l
           SET on_hand = r.quantity, updated_at = now()
          FROM inventory_reservations r
          JOIN inventory_levels before ON before.account_id = r.account_id AND before.id = r.level_id
         WHERE r.account_id = %s AND r.checkout_id = %s AND r.status = 'committed' AND before.on_hand < r.quantity
           AND l.account_id = r.account_id AND l.id = r.level_id
     RETURNING l.account_id, l.id, r.quantity, r.quantity - before.on_hand AS delta
    )
    INSERT INTO inventory_adjustments (account_id, level_id, delta, reason, on_hand_after, created_at)
    SELECT account_id, id, delta, 'correction', quantity, now() FROM counted ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class _Line:
    """A wanted variant that is tracked. `location_id` is None if there is no active location."""

    variant_id: int
    quantity: int
    allow_backorder: bool
    location_id: int | None
    has_level: bool

    def is_short(self, level: InventoryLevel | None) -> bool:
        return level is None or (not level.allow_backorder and level.available < self.quantity)


def reserve(
    *, checkout_id: int, wanted: dict[int, int], instead_of: Sequence[int] = (), now: datetime
) -> None:
    """Reserve units (`{variant_id: quantity}`) at the active location with the highest priority, all or none.

    Untracked variants are skipped; backorders may exceed the stock. What the checkouts in `instead_of`
    hold is released first, under the same locks. Raises `InsufficientInventory`.
    """
    lines = _plan_lines(checkout_id, wanted)
    # All lines have the same location.
    location_id = lines[0].location_id if lines else None
    # Backorders need a level to be counted in. Without one, other variants have nothing to sell anyway.
    absent = [line.variant_id for line in lines if line.allow_backorder and not line.has_level]
    if location_id is not None and absent:
        ensure_levels(location_id=location_id, variant_ids=absent, now=now)
    here = Q(location_id=location_id, variant_id__in=[line.variant_id for line in lines])
    if instead_of:
        # Together with the levels that are locked below: in two steps, they would be locked out of order.
        lock_levels(here | Q(pk__in=list(_find_level_ids(instead_of, Status.RESERVED))))
        release(checkout_ids=instead_of)
    if lines:
        levels = {level.variant_id: level for level in lock_levels(here)}
        short = [
            _describe_shortage(line.variant_id, line.quantity, level.available if level else 0)
            for line in lines
            if line.is_short(level := levels.get(line.variant_id))
        ]
        if short:
            raise InsufficientInventory(items=short)
        _hold(checkout_id, lines, levels, now)


def release(*, checkout_ids: Sequence[int]) -> None:
    """Release what checkouts have reserved. Committed units stay committed."""
    _lock(checkout_ids, Status.RESERVED)
    _move(checkout_ids, Status.RESERVED, Status.RELEASED, "reserved = l.reserved - sums.quantity")


def commit(*, checkout_id: int) -> None:
    """Turn a checkout's reservations into commitments to its order."""
    _lock([checkout_id], Status.RESERVED)
    changes = "reserved = l.reserved - sums.quantity, committed = l.committed + sums.quantity"
    _move([checkout_id], Status.RESERVED, Status.COMMITTED, changes)


def fulfill(*, checkout_id: int) -> None:
    """Take an order's units out of stock. Raises `InsufficientInventory` for backorders that aren't in stock yet."""
    _lock([checkout_id], Status.COMMITTED)
    taken = Reservation.objects.filter(checkout_id=checkout_id, status=Status.COMMITTED)
    short = [
        reservation
        for reservation in taken.select_related("level__variant").order_by("level__variant_id")
        if reservation.level.on_hand < reservation.quantity
    ]
    items = [
        _describe_shortage(reservation.level.variant_id, reservation.quantity, reservation.level.on_hand)
        for reservation in short
        if reservation.level.variant.track_inventory
    ]
    if items:
        raise InsufficientInventory(items=items)
    # The other short ones are of variants that are no longer tracked.
    if short:
        with connection.cursor() as cursor:
            cursor.execute(_COUNT_UP, [current_account_id(), checkout_id])
    changes = "on_hand = l.on_hand - sums.quantity, committed = l.committed - sums.quantity"
    _move([checkout_id], Status.COMMITTED, Status.FULFILLED, changes)


def restock(*, checkout_id: int) -> None:
    """Free an order's units that haven't been shipped, because the order was cancelled."""
    _lock([checkout_id], Status.COMMITTED)
    _move([checkout_id], Status.COMMITTED, Status.RELEASED, "committed = l.committed - sums.quantity")


def _plan_lines(checkout_id: int, wanted: dict[int, int]) -> list[_Line]:
    """Find what to reserve, ordered by variant; empty if the checkout already holds it."""
    with connection.cursor() as cursor:
        cursor.execute(_PLAN, [checkout_id, current_account_id(), list(wanted)])
        rows = cursor.fetchall()
    return [
        _Line(variant_id, wanted[variant_id], allow_backorder, location_id, has_level)
        for variant_id, allow_backorder, location_id, has_level, is_held in rows
        if not is_held
    ]


def _describe_shortage(variant_id: int, requested: int, available: int) -> dict[str, int]:
    # Backorders make it negative, which means nothing to a shopper.
    return {"variant_id": variant_id, "requested": requested, "available": max(available, 0)}


def _hold(checkout_id: int, lines: list[_Line], levels: dict[int, InventoryLevel], now: datetime) -> None:
    quantities = {levels[line.variant_id].pk: line.quantity for line in lines}
    with connection.cursor() as cursor:
        cursor.execute(_RESERVE, [now, list(quantities), list(quantities.values()), current_account_id()])
    # A checkout that released its units when a payment failed reuses its rows.
    Reservation.objects.bulk_create(
        [
            Reservation(checkout_id=checkout_id, level_id=level_id, quantity=quantity)
            for level_id, quantity in quantities.items()
        ],
        update_conflicts=True,
        unique_fields=["account", "checkout_id", "level"],
        update_fields=["quantity", "status", "updated_at"],
    )


def _find_level_ids(checkout_ids: Sequence[int], status: Status) -> QuerySet[Reservation, int]:
    reservations = Reservation.objects.filter(checkout_id__in=checkout_ids, status=status)
    return reservations.values_list("level_id", flat=True)


def _lock(checkout_ids: Sequence[int], status: Status) -> None:
    # `_move` alone would lock the levels in whatever order its UPDATE finds them.
    lock_levels(Q(pk__in=_find_level_ids(checkout_ids, status)))


def _move(checkout_ids: Sequence[int], before: Status, after: Status, changes: str) -> None:
    """Change the status of reservations, and the counts of their levels with it."""
    account_id = current_account_id()
    with connection.cursor() as cursor:
        cursor.execute(
            _MOVE.format(changes=changes), [after, account_id, list(checkout_ids), before, account_id]
        )

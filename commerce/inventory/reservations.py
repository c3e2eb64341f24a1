"""Stock held by checkouts and taken by orders. Each operation is idempotent, by the status of the reservations.

All reservations of a checkout change together, and the number of statements doesn't depend on how many
there are. Callers have locked the checkout or order.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Q

from commerce.tenancy.locks import Resource, about_to_lock, withdraw_lock
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, post, send

from .errors import InsufficientInventory
from .levels import ensure_levels, lock_levels
from .models import Reservation

Status = Reservation.Status

# Levels are found by arrays of their ids: joined instead, the plan for an average shop would read all levels of a large one.

# The wanted variants that are tracked and that the checkout doesn't hold yet, at the active location with the highest
# priority. Their levels are locked, together with those at which the checkouts in `released` hold units. None is locked
# if a backorder has no level to be counted in: making it locks a variant, which comes before levels.
_PLAN_AND_LOCK = Prepared("""
    WITH place AS MATERIALIZED (
        SELECT p.id FROM locations p
         WHERE p.account_id = %(account_id)s AND p.is_active
         ORDER BY p.priority, p.id
         LIMIT 1
    ), wanted AS MATERIALIZED (
        SELECT v.id, v.allow_backorder, place.id AS location_id, l.id AS level_id
          FROM variants v
          LEFT JOIN place ON true
          LEFT JOIN inventory_levels l
            ON l.account_id = v.account_id AND l.location_id = place.id AND l.variant_id = v.id
         WHERE v.account_id = %(account_id)s AND v.id = ANY(%(variant_ids)s::bigint[]) AND v.track_inventory
           AND NOT EXISTS (
               SELECT FROM inventory_reservations r
                WHERE r.account_id = v.account_id AND r.checkout_id = %(checkout_id)s AND r.status <> 'released')
    ), levels AS MATERIALIZED (
        SELECT l.id, l.on_hand - l.reserved - l.committed AS available, l.allow_backorder
          FROM inventory_levels l
         WHERE l.account_id = %(account_id)s
           AND l.id = ANY(ARRAY(
               SELECT level_id FROM wanted
                UNION ALL
               SELECT r.level_id FROM inventory_reservations r
                WHERE r.account_id = %(account_id)s AND r.checkout_id = ANY(%(released)s::bigint[])
                  AND r.status = 'reserved'))
           AND NOT EXISTS (
               SELECT FROM wanted w WHERE w.allow_backorder AND w.level_id IS NULL AND w.location_id IS NOT NULL)
         ORDER BY l.variant_id, l.id
           FOR UPDATE OF l
    )
    SELECT wanted.id, wanted.allow_backorder AND level_id IS NULL, location_id,
           levels.id, available, levels.allow_backorder
      FROM wanted
      LEFT JOIN levels ON levels.id = level_id
     ORDER BY wanted.id
""")
# A checkout that released its units when a payment failed reuses its rows.
_HOLD = Prepared("""
    WITH held AS (
        INSERT INTO inventory_reservations
               (account_id, level_id, checkout_id, quantity, status, created_at, updated_at)
        SELECT %(account_id)s::bigint, taken.level_id, %(checkout_id)s::bigint, taken.quantity, 'reserved',
               %(now)s::timestamptz, %(now)s::timestamptz
          FROM unnest(%(level_ids)s::bigint[], %(quantities)s::bigint[]) AS taken (level_id, quantity)
            ON CONFLICT (account_id, checkout_id, level_id) DO UPDATE
           SET quantity = excluded.quantity, status = excluded.status, updated_at = excluded.updated_at
     RETURNING level_id, quantity
    )
    UPDATE inventory_levels l
       SET reserved = l.reserved + held.quantity, updated_at = %(now)s::timestamptz
      FROM held
     WHERE l.account_id = %(account_id)s AND l.id = held.level_id AND l.id = ANY(%(level_ids)s::bigint[])
""")
# Changes the status of reservations, and the counts of their levels with it. A level is updated after it was locked, and
# all of them are locked in one order: an UPDATE alone would lock them in whatever order it finds them.
_MOVE = """
    WITH locked AS MATERIALIZED (
        SELECT l.id FROM inventory_levels l
         WHERE l.account_id = %(account_id)s
           AND l.id = ANY(ARRAY(
               SELECT r.level_id FROM inventory_reservations r
                WHERE r.account_id = %(account_id)s AND r.checkout_id = {checkouts} AND r.status = '{before}'))
         ORDER BY l.variant_id, l.id
           FOR UPDATE OF l
    ), moved AS (
        UPDATE inventory_reservations
           SET status = '{after}', updated_at = now()
         WHERE account_id = %(account_id)s AND checkout_id = {checkouts} AND status = '{before}'
     RETURNING level_id, quantity
    ), sums AS (
        SELECT level_id, sum(quantity)::bigint AS quantity FROM moved GROUP BY level_id
    )
    UPDATE inventory_levels l
       SET {changes}, updated_at = now()
      FROM sums
     WHERE l.account_id = %(account_id)s AND l.id = sums.level_id AND l.id = ANY(ARRAY(SELECT id FROM locked))
"""


# One checkout isn't given as an array: PostgreSQL expects ten ids in one, and plans anew each time if there are fewer.
_ONE, _MANY = "%(checkout_id)s", "ANY(%(checkout_ids)s::bigint[])"


def _prepare_move(before: Status, after: Status, changes: str, *, checkouts: str = _ONE) -> Prepared:
    return Prepared(
        _MOVE.format(before=before.value, after=after.value, changes=changes, checkouts=checkouts)
    )


_RELEASE = _prepare_move(
    Status.RESERVED, Status.RELEASED, "reserved = l.reserved - sums.quantity", checkouts=_MANY
)
_COMMIT = _prepare_move(
    Status.RESERVED,
    Status.COMMITTED,
    "reserved = l.reserved - sums.quantity, committed = l.committed + sums.quantity",
)
_FULFILL = _prepare_move(
    Status.COMMITTED,
    Status.FULFILLED,
    "on_hand = l.on_hand - sums.quantity, committed = l.committed - sums.quantity",
)
_RESTOCK = _prepare_move(Status.COMMITTED, Status.RELEASED, "committed = l.committed - sums.quantity")

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


class _Line(NamedTuple):
    """A wanted variant that is tracked. The location is None if none is active, and the level if there is none."""

    variant_id: int
    lacks_level: bool
    location_id: int | None
    level_id: int | None
    available: int | None
    allow_backorder: bool | None

    def is_short(self, quantity: int) -> bool:
        return self.available is None or (not self.allow_backorder and self.available < quantity)


def reserve(
    *, checkout_id: int, wanted: dict[int, int], instead_of: Sequence[int] = (), now: datetime
) -> None:
    """Reserve units (`{variant_id: quantity}`) at the active location with the highest priority, all or none.

    Untracked variants are skipped; backorders may exceed the stock. What the checkouts in `instead_of`
    hold is released first, under the same locks. Raises `InsufficientInventory`.
    """
    lines = _plan_and_lock(checkout_id, wanted, released=instead_of)
    # Backorders need a level to be counted in. Without one, other variants have nothing to sell anyway.
    absent = [line.variant_id for line in lines if line.lacks_level]
    if absent and (location_id := lines[0].location_id) is not None:
        # No level was locked, so variants may still be, which come before levels.
        withdraw_lock(Resource.STOCK_LEVEL)
        ensure_levels(location_id=location_id, variant_ids=absent, now=now)
        lines = _plan_and_lock(checkout_id, wanted, released=instead_of)
    if instead_of:
        # Their levels are locked already, in one order with those of the lines.
        release(checkout_ids=instead_of)
        lines = _plan_and_lock(checkout_id, wanted)
    short = [
        _describe_shortage(line.variant_id, wanted[line.variant_id], line.available or 0)
        for line in lines
        if line.is_short(wanted[line.variant_id])
    ]
    if short:
        raise InsufficientInventory(items=short)
    if lines:
        parameters = {
            "account_id": current_account_id(),
            "checkout_id": checkout_id,
            "level_ids": [line.level_id for line in lines],
            "quantities": [wanted[line.variant_id] for line in lines],
            "now": now,
        }
        post(_HOLD.call(parameters))


def release(*, checkout_ids: Sequence[int]) -> None:
    """Release what checkouts have reserved. Committed units stay committed."""
    _move(_RELEASE, checkout_ids=list(checkout_ids))


def commit(*, checkout_id: int) -> None:
    """Turn a checkout's reservations into commitments to its order."""
    _move(_COMMIT, checkout_id=checkout_id)


def fulfill(*, checkout_id: int) -> None:
    """Take an order's units out of stock. Raises `InsufficientInventory` for backorders that aren't in stock yet."""
    taken = Reservation.objects.filter(checkout_id=checkout_id, status=Status.COMMITTED)
    lock_levels(Q(pk__in=taken.values("level_id")))
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
    _move(_FULFILL, checkout_id=checkout_id)


def restock(*, checkout_id: int) -> None:
    """Free an order's units that haven't been shipped, because the order was cancelled."""
    _move(_RESTOCK, checkout_id=checkout_id)


def _plan_and_lock(checkout_id: int, wanted: dict[int, int], *, released: Sequence[int] = ()) -> list[_Line]:
    """Find what to reserve, ordered by variant, and lock its levels; empty if the checkout already holds it."""
    about_to_lock(Resource.STOCK_LEVEL)
    parameters = {
        "account_id": current_account_id(),
        "checkout_id": checkout_id,
        "variant_ids": list(wanted),
        "released": list(released),
    }
    (planned,) = send(_PLAN_AND_LOCK.call(parameters))
    return [_Line(*row) for row in planned.rows]


def _move(statement: Prepared, **checkouts: int | list[int]) -> None:
    about_to_lock(Resource.STOCK_LEVEL)
    post(statement.call({"account_id": current_account_id(), **checkouts}))


def _describe_shortage(variant_id: int, requested: int, available: int) -> dict[str, int]:
    # Backorders make it negative, which means nothing to a shopper.
    return {"variant_id": variant_id, "requested": requested, "available": max(available, 0)}

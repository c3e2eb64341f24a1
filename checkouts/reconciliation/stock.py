"""Compare what checkouts and orders need with their reservations, and stock on hand with its adjustments."""

from .checks import Check

# Untracked variants aren't reserved. Variants whose tracking changed since their checkout began are left out, with ten
# minutes added until every process has seen the change.
_UNITS = """
    WITH owners AS (
        SELECT k.id AS checkout_id, k.created_at, 'reserved' AS status, 'checkout' AS kind, k.id
          FROM checkouts k
         WHERE k.account_id = %(account)s AND k.phase = ANY(%(open_phases)s::text[]) AND k.is_stock_reserved
         UNION ALL
        SELECT k.id, k.created_at, CASE o.fulfillment_status WHEN 'fulfilled' THEN 'fulfilled' ELSE 'committed' END,
               'order', o.id
          FROM orders o
          JOIN checkouts k ON k.account_id = o.account_id AND k.id = o.checkout_id
         WHERE o.account_id = %(account)s AND o.status <> 'cancelled'
    ), wanted AS (
        SELECT l.checkout_id, l.variant_id, sum(l.quantity) AS units
          FROM checkout_line_items l
         WHERE l.account_id = %(account)s
         GROUP BY l.checkout_id, l.variant_id
    ), kept AS (
        SELECT r.checkout_id, r.status, v.variant_id, sum(r.quantity) AS units
          FROM inventory_reservations r
          JOIN inventory_levels v ON v.account_id = r.account_id AND v.id = r.level_id
         WHERE r.account_id = %(account)s AND r.status <> 'released'
         GROUP BY r.checkout_id, r.status, v.variant_id
    ), needed AS (
        SELECT o.kind, o.id, o.checkout_id, o.created_at, o.status, w.variant_id, w.units
          FROM owners o
          JOIN wanted w ON w.checkout_id = o.checkout_id
         UNION ALL
        SELECT o.kind, o.id, o.checkout_id, o.created_at, o.status, k.variant_id, 0
          FROM owners o
          JOIN kept k ON k.checkout_id = o.checkout_id AND k.status = o.status
         WHERE NOT EXISTS (SELECT FROM wanted w
                            WHERE w.checkout_id = k.checkout_id AND w.variant_id = k.variant_id)
    )
    SELECT n.kind, n.id, n.units, n.variant_id, n.status, COALESCE(k.units, 0)
      FROM needed n
      JOIN variants v ON v.account_id = %(account)s AND v.id = n.variant_id
      LEFT JOIN kept k
        ON k.checkout_id = n.checkout_id AND k.status = n.status AND k.variant_id = n.variant_id
     WHERE n.units <> COALESCE(k.units, 0)
       AND (k.units IS NOT NULL
            OR v.track_inventory
               AND (v.tracking_changed_at IS NULL OR v.tracking_changed_at + interval '10 minutes' < n.created_at))
     ORDER BY n.kind, n.id, n.variant_id
"""
_SENT = """
    SELECT r.id, r.checkout_id
      FROM inventory_reservations r
     WHERE r.account_id = %(account)s AND r.status = 'fulfilled'
       AND NOT EXISTS (SELECT FROM orders o
                        WHERE o.account_id = r.account_id AND o.checkout_id = r.checkout_id
                          AND o.fulfillment_status = 'fulfilled')
     ORDER BY r.id
"""
# Stock changes only by adjustments, which have entries, and by sending out units, which are reservations.
_ON_HAND = """
    SELECT l.id, l.on_hand, COALESCE(a.units, 0), COALESCE(r.units, 0)
      FROM inventory_levels l
      LEFT JOIN (SELECT p.level_id, sum(p.delta) AS units
                   FROM inventory_adjustments p
                  WHERE p.account_id = %(account)s GROUP BY p.level_id) a ON a.level_id = l.id
      LEFT JOIN (SELECT p.level_id, sum(p.quantity) AS units
                   FROM inventory_reservations p
                  WHERE p.account_id = %(account)s AND p.status = 'fulfilled'
                  GROUP BY p.level_id) r ON r.level_id = l.id
     WHERE l.account_id = %(account)s AND l.on_hand <> COALESCE(a.units, 0) - COALESCE(r.units, 0)
     ORDER BY l.id
"""
# Checkouts that reserve only when their payment starts, or that have released their units.
_UNKNOWN_UNITS = """
    SELECT k.id, k.phase, sum(r.quantity)
      FROM checkouts k
      JOIN inventory_reservations r ON r.account_id = k.account_id AND r.checkout_id = k.id
     WHERE k.account_id = %(account)s AND k.phase = ANY(%(open_phases)s::text[]) AND NOT k.is_stock_reserved
       AND r.status = 'reserved'
     GROUP BY k.id, k.phase
     ORDER BY k.id
"""
# Adjustments are made under the level's lock, so that ids are in chronological order. Of units sent out in between,
# only the total is known.
_RUNNING_COUNTS = """
    SELECT a.id, a.level_id, a.on_hand_after, a.counted
      FROM (SELECT p.id, p.level_id, p.on_hand_after,
                   sum(p.delta) OVER (PARTITION BY p.level_id ORDER BY p.id) AS counted
              FROM inventory_adjustments p
             WHERE p.account_id = %(account)s) a
      LEFT JOIN (SELECT p.level_id, sum(p.quantity) AS units
                   FROM inventory_reservations p
                  WHERE p.account_id = %(account)s AND p.status = 'fulfilled'
                  GROUP BY p.level_id) r ON r.level_id = a.level_id
     WHERE a.on_hand_after NOT BETWEEN a.counted - COALESCE(r.units, 0) AND a.counted
     ORDER BY a.id
"""

CHECKS = (
    Check("{} {} needs {} units of variant {} {}, but its reservations come to {}", _UNITS),
    Check("checkout {} is {} and holds no stock, but has {} units reserved", _UNKNOWN_UNITS),
    Check(
        "adjustment {} of inventory level {} says that {} units were on hand, but those up to it come to {}",
        _RUNNING_COUNTS,
    ),
    Check("reservation {} was sent out, but checkout {} has no fulfilled order", _SENT),
    Check(
        "inventory level {} has {} units on hand, but its adjustments come to {}, of which {} were sent out",
        _ON_HAND,
    ),
)

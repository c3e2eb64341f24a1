"""What the books of an account must agree on, each proven by one statement over all of its rows.

A statement sees one moment of the database, so that a shop that is selling has no false differences.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection

from checkouts.phases import OPEN_PHASES
from commerce.tenancy.scope import current_account_id

_SUMS = """
    SELECT t.id, t.{column}, COALESCE(sums.amount, 0)
      FROM {table} t
      LEFT JOIN (SELECT p.{reference} AS id, sum(p.{amount}) AS amount
                   FROM {parts} p WHERE p.account_id = %(account)s AND {which}
                  GROUP BY p.{reference}) sums ON sums.id = t.id
     WHERE t.account_id = %(account)s AND t.{column} <> COALESCE(sums.amount, 0)
     ORDER BY t.id
"""
_ENDED = """
    SELECT h.id, h.checkout_id, 'open checkouts alone may hold'
      FROM {table} h
     WHERE h.account_id = %(account)s AND {which}
       AND NOT EXISTS (SELECT FROM checkouts k
                        WHERE k.account_id = h.account_id AND k.id = h.checkout_id
                          AND k.phase = ANY(%(open_phases)s::text[]))
     ORDER BY h.id
"""
_USES = """
    SELECT d.id, d.usage_count, COALESCE(r.uses, 0) + COALESCE(h.uses, 0)
      FROM discounts d
      LEFT JOIN (SELECT u.discount_id, sum(CASE u.kind WHEN 'redeem' THEN 1 ELSE -1 END) AS uses
                   FROM discount_redemptions u
                  WHERE u.account_id = %(account)s GROUP BY u.discount_id) r ON r.discount_id = d.id
      LEFT JOIN (SELECT u.discount_id, count(*) AS uses
                   FROM discount_holds u
                  WHERE u.account_id = %(account)s GROUP BY u.discount_id) h ON h.discount_id = d.id
     WHERE d.account_id = %(account)s AND d.usage_count <> COALESCE(r.uses, 0) + COALESCE(h.uses, 0)
     ORDER BY d.id
"""
_ORDERS_OF_COMPLETED = """
    SELECT k.id, k.order_id, string_agg(o.id::text, ', ')
      FROM checkouts k
      LEFT JOIN orders o ON o.account_id = k.account_id AND o.checkout_id = k.id
     WHERE k.account_id = %(account)s AND k.phase = 'completed'
     GROUP BY k.id, k.order_id
    HAVING count(*) <> 1 OR min(o.id) IS DISTINCT FROM k.order_id
     ORDER BY k.id
"""
_CHECKOUTS_OF_ORDERS = """
    SELECT o.id, o.checkout_id, COALESCE(k.phase, 'unknown')
      FROM orders o
      LEFT JOIN checkouts k ON k.account_id = o.account_id AND k.id = o.checkout_id
     WHERE o.account_id = %(account)s AND k.phase IS DISTINCT FROM 'completed'
     ORDER BY o.id
"""


@dataclass(frozen=True, slots=True)
class Check:
    """`sql` selects the wrong rows: the id and two values that `text` has places for."""

    text: str
    sql: str


def _sums_up(text: str, **names: str) -> Check:
    """A column of a table against the sum over the parts that refer to it."""
    return Check(text, _SUMS.format(**{"which": "true"} | names))


def _held_by_open_checkouts(text: str, table: str, which: str = "true") -> Check:
    return Check(text, _ENDED.format(table=table, which=which))


def _units(status: str) -> Check:
    return _sums_up(
        f"inventory level {{}} has {{}} units {status}, but its reservations sum up to {{}}",
        table="inventory_levels",
        column=status,
        parts="inventory_reservations",
        reference="level_id",
        amount="quantity",
        which=f"p.status = '{status}'",
    )


CHECKS = (
    _sums_up(
        "voucher {} has a balance of {}, but its ledger sums up to {}",
        table="vouchers",
        column="balance_cents",
        parts="voucher_redemptions",
        reference="voucher_id",
        amount="amount_cents",
    ),
    _sums_up(
        "voucher {} has {} held, but its holds sum up to {}",
        table="vouchers",
        column="held_cents",
        parts="voucher_holds",
        reference="voucher_id",
        amount="amount_cents",
    ),
    Check("discount {} counts {} uses, but its redemptions and holds come to {}", _USES),
    _held_by_open_checkouts("voucher hold {} is of checkout {}, but {}", "voucher_holds"),
    _held_by_open_checkouts("discount hold {} is of checkout {}, but {}", "discount_holds"),
    _held_by_open_checkouts(
        "reservation {} is of checkout {}, but {}", "inventory_reservations", "h.status = 'reserved'"
    ),
    _units("reserved"),
    _units("committed"),
    Check("completed checkout {} names order {}, but its orders are {}", _ORDERS_OF_COMPLETED),
    Check("order {} is of checkout {}, which is not completed but {}", _CHECKOUTS_OF_ORDERS),
)


def differences() -> Iterator[str]:
    """What does not agree in the books of the account in scope, a line each; amounts are in cents."""
    parameters: dict[str, Any] = {"account": current_account_id(), "open_phases": list(OPEN_PHASES)}
    with connection.cursor() as cursor:
        for check in CHECKS:
            cursor.execute(check.sql, parameters)
            yield from [check.text.format(*row) for row in cursor.fetchall()]

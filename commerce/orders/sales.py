"""Orders and revenue by day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from commerce.tenancy.scope import current_account_id

# An index-only scan: orders_sales covers every column. Cancelled orders don't count. Refunded ones do, and
# their refunds are shown separately.
_SALES = """
    SELECT width_bucket(placed_at, %s::timestamptz[]) AS day, market_id, currency,
           count(*), sum(total_cents)::bigint,
           count(*) FILTER (WHERE payment_status = 'refunded'),
           coalesce(sum(total_cents) FILTER (WHERE payment_status = 'refunded'), 0)::bigint
      FROM orders
     WHERE account_id = %s AND placed_at >= %s AND placed_at < %s AND status IN ('open', 'closed')
     GROUP BY 1, 2, 3
"""


@dataclass(frozen=True, slots=True)
class Sales:
    """Orders of one day, market and currency that weren't cancelled, with their totals in cents.

    `day` is the position of the day's midnight.
    """

    day: int
    market_id: int
    currency: str
    orders: int
    total_cents: int
    refunded_orders: int
    refunded_cents: int


def sum_sales(midnights: Sequence[datetime], end: datetime) -> list[Sales]:
    """Sum the account's sales between these midnights and `end`, with one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_SALES, [list(midnights), current_account_id(), midnights[0], end])
        return [Sales(day - 1, *rest) for day, *rest in cursor.fetchall()]

"""How many messages are sent, delivered, opened and bounced."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db import connection

from accounts.queries import current_account
from commerce.tenancy.scope import current_account_id

DAYS = 30

# An index-only scan: email_deliveries_sent covers every column.
_COUNT = """
    SELECT width_bucket(sent_at, %s::timestamptz[]), count(*), count(delivered_at), count(opened_at),
           count(bounced_at)
      FROM email_deliveries
     WHERE account_id = %s AND sent_at >= %s
     GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class DayFigures:
    """The messages sent on a day, and how many of them have been delivered, opened and bounced since."""

    day: date
    sent: int = 0
    delivered: int = 0
    opened: int = 0
    bounced: int = 0


def count_by_day(*, now: datetime) -> list[DayFigures]:
    """The last `DAYS` days in the account's time zone, today last. Two statements."""
    # A merchant's day, which has 23 or 25 hours when the clocks change.
    zone = ZoneInfo(current_account().default_timezone)
    today = now.astimezone(zone).date()
    days = [today - timedelta(days=ago) for ago in reversed(range(DAYS))]
    counted = _count([datetime.combine(day, time.min, tzinfo=zone) for day in days])
    return [DayFigures(day, *counted.get(number, ())) for number, day in enumerate(days, start=1)]


def _count(midnights: list[datetime]) -> dict[int, tuple[int, ...]]:
    """Counts by the number of the day, from 1. Days without messages are missing."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [midnights, current_account_id(), midnights[0]])
        return {number: counts for number, *counts in cursor.fetchall()}

"""Days of the shop, in its time zone: periods of the overview and of filters by date."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.apps import apps

from commerce.tenancy.scope import current_account_id

# The numbers of days that the pages offer.
PRESETS = (1, 7, 30, 90)
_LONGEST = timedelta(days=3660)


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days, both included. As text it is what `parse_period` reads."""

    first: date
    last: date

    @property
    def length(self) -> int:
        """The number of days."""
        return (self.last - self.first).days + 1

    def previous(self) -> "Period":
        """The period of the same length that ends the day before."""
        length = timedelta(days=self.length)
        return Period(self.first - length, self.last - length)

    def list_days(self) -> list[date]:
        """The days, the first one first."""
        return [self.first + timedelta(days=number) for number in range(self.length)]

    def bounds(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """The first midnight and the one after the last day, between which the period lies."""
        return midnight(self.first, zone), midnight(self.last + timedelta(days=1), zone)

    def __str__(self) -> str:
        return self.first.isoformat() if self.length == 1 else f"{self.first}..{self.last}"


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """The beginning of a day, which has 23 or 25 hours when the clocks change."""
    return datetime.combine(day, time.min, tzinfo=zone)


def list_midnights(period: Period, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield the beginning of each day of the period."""
    return (midnight(day, zone) for day in period.list_days())


def last_days(number: int, *, today: date) -> Period:
    """The period of this many days that ends today."""
    return Period(today - timedelta(days=number - 1), today)


def parse_period(text: str, *, today: date) -> Period | None:
    """Read a number of days up to today (`30`), a day (`2026-11-22`) or two (`2026-11-01..2026-11-22`); else None."""
    if text in map(str, PRESETS):
        return last_days(int(text), today=today)
    first_text, separator, last_text = text.partition("..")
    try:
        first = date.fromisoformat(first_text)
        last = date.fromisoformat(last_text) if separator else first
    except ValueError:
        return None
    # Days at the ends of the calendar have no previous or next one.
    is_usual = first.year > 1900 and last.year < 9000
    return Period(first, last) if is_usual and first <= last <= first + _LONGEST else None


def load_shop_zone() -> ZoneInfo:
    """Load the time zone of the account in scope, with one statement."""
    # By name, because accounts imports this package.
    accounts = apps.get_model("accounts", "Account").objects
    return ZoneInfo(accounts.values_list("default_timezone", flat=True).get(pk=current_account_id()))

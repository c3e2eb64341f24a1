from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from accounts.models import Account
from emails.statistics import DayFigures, count_by_day
from tests.factories import make_delivery

PRAGUE = ZoneInfo("Europe/Prague")


def move(shop, time_zone):
    with shop.scope():
        Account.objects.filter(pk=shop.id).update(default_timezone=time_zone)


def figures(shop, now):
    with shop.scope():
        return count_by_day(now=now)


def test_every_day_is_there_and_today_is_the_last(shop):
    found = figures(shop, datetime(2026, 11, 21, 12, tzinfo=PRAGUE))

    assert found == [DayFigures(date(2026, 10, 23) + timedelta(days=number)) for number in range(30)]


@pytest.mark.parametrize(
    ("time_zone", "today"),
    [
        ("UTC", date(2026, 11, 21)),
        ("Pacific/Kiritimati", date(2026, 11, 22)),
        ("Pacific/Pago_Pago", date(2026, 11, 20)),
    ],
)
def test_days_are_those_of_the_shops_clock(shop, time_zone, today):
    now = datetime(2026, 11, 21, 10, 30, tzinfo=ZoneInfo("UTC"))
    move(shop, time_zone)
    make_delivery(shop, sent_at=now)

    found = figures(shop, now)

    assert (found[-1], len(found)) == (DayFigures(today, sent=1), 30)


def test_day_on_which_the_clocks_go_back_is_an_hour_longer(shop):
    move(shop, "Europe/Prague")
    midnight = datetime(2026, 10, 25, tzinfo=PRAGUE)
    for hours in (-1, 0, 24, 25):
        # Hours that really pass: adding them to a time in Prague would add hours of its clock.
        make_delivery(shop, sent_at=midnight.astimezone(ZoneInfo("UTC")) + timedelta(hours=hours))

    found = {one.day: one.sent for one in figures(shop, datetime(2026, 10, 26, 12, tzinfo=PRAGUE))}

    assert [found[date(2026, 10, day)] for day in (24, 25, 26)] == [1, 2, 1]


def test_other_shops_and_older_messages_do_not_count(shop, other_shop):
    now = datetime(2026, 11, 21, 12, tzinfo=PRAGUE)
    make_delivery(other_shop, sent_at=now)
    make_delivery(shop, sent_at=now - timedelta(days=31))

    assert sum(one.sent for one in figures(shop, now)) == 0

from datetime import date

from commerce.backoffice.charts import Bar, build_chart

DAYS = [date(2026, 11, day) for day in (19, 20, 21)]


def test_bars_are_as_high_as_their_share_of_the_peak():
    chart = build_chart("Sent", [*zip(DAYS, [10, 0, 5], strict=True)], colour="text-primary-600")

    assert (chart.total, chart.peak, chart.width, chart.height) == ("15", "10", 30, 60)
    assert chart.bars == [
        Bar(x=0, y=0, width=8, height=60, title="19 Nov 2026: 10"),
        Bar(x=20, y=30, width=8, height=30, title="21 Nov 2026: 5"),
    ]


def test_small_count_beside_a_large_one_can_be_seen():
    chart = build_chart("Bounced", [(DAYS[0], 1), (DAYS[1], 100_000)], colour="text-red-600")

    assert [(bar.y, bar.height) for bar in chart.bars] == [(59, 1), (0, 60)]


def test_days_without_messages_have_no_bars():
    chart = build_chart("Opened", [(day, 0) for day in DAYS], colour="text-blue-700")

    assert (chart.total, chart.peak, chart.bars) == ("0", "0", [])

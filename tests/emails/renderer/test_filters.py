# ruff: noqa: RUF001 - the Swiss thousands separator is an apostrophe
from datetime import UTC, datetime

import pytest

from emails.renderer.liquid_templates import render_html, render_text
from emails.renderer.problems import TemplateSyntaxError

NBSP = "\N{NO-BREAK SPACE}"


def render(template, *, locale="en", **variables):
    return render_text(template, {"locale": locale, **variables}, field="subject_template")


@pytest.mark.parametrize(
    ("cents", "currency", "locale", "expected"),
    [
        ("123450", "EUR", "en", "€1,234.50"),
        (123450, "EUR", "en", "€1,234.50"),
        ("123450", "EUR", "de-DE", f"1.234,50{NBSP}€"),
        ("123450", "CZK", "cs-CZ", f"1{NBSP}234,50{NBSP}Kč"),
        ("123450", "USD", "en-US", "$1,234.50"),
        ("1234", "JPY", "en", "¥1,234"),
        ("1234567", "KWD", "en", f"KWD{NBSP}1,234.567"),
        ("1234567", "IQD", "en", f"IQD{NBSP}1,234.567"),
        ("123450", "RSD", "sr", f"1.234,50{NBSP}RSD"),
        ("123450", "CHF", "de-CH", f"CHF{NBSP}1’234.50"),
        ("123450", "CHF", "en", f"CHF{NBSP}1,234.50"),
        ("-5", "EUR", "en", "-€0.05"),
        ("0", "EUR", "en", "€0.00"),
        ("9007199254740991", "EUR", "en", "€90,071,992,547,409.91"),
        (123450, "EUR", "tlh", "€1,234.50"),
        (123450, "EUR", "en_GB", "€1,234.50"),
        (123450, "EUR", "de-XX", f"1.234,50{NBSP}€"),
    ],
)
def test_money_is_written_with_its_currencys_decimals(cents, currency, locale, expected):
    assert render("{{ c | money: currency }}", locale=locale, c=cents, currency=currency) == expected


def test_money_takes_a_locale_of_its_own():
    assert render("{{ '500' | money: 'EUR', 'de' }}", locale="en") == f"5,00{NBSP}€"


@pytest.mark.parametrize(
    "template", ["{{ nothing | money: 'EUR' }}", "{{ nil | money: 'EUR' }}", "{{ '' | money: 'EUR' }}"]
)
def test_money_of_nothing_is_empty(template):
    assert render(template) == ""


@pytest.mark.parametrize(
    ("cents", "currency"),
    [
        ("12.50", "EUR"),
        (12.5, "EUR"),
        (True, "EUR"),
        ("12", None),
        ("12", "euro"),
        ([1], "EUR"),
        ("9" * 31, "EUR"),
    ],
)
def test_money_refuses_what_is_not_minor_units_of_a_currency(cents, currency):
    with pytest.raises(TemplateSyntaxError):
        render("{{ cents | money: currency }}", cents=cents, currency=currency)


@pytest.mark.parametrize(
    ("arguments", "locale", "expected"),
    [
        ("", "en", "Nov 20, 2026"),
        (": 'long'", "en", "November 20, 2026"),
        (": 'long'", "en-GB", "20 November 2026"),
        (": 'long'", "cs", "20. listopadu 2026"),
        (": 'short'", "de", "20.11.26"),
        (": 'full', 'Europe/Prague'", "de", "Samstag, 21. November 2026"),
        (": 'long', nil, 'de'", "en", "20. November 2026"),
        (": '%Y-%m-%d %H:%M', 'Europe/Prague'", "en", "2026-11-21 00:30"),
    ],
)
def test_date_is_written_for_locale_and_time_zone(arguments, locale, expected):
    template = "{{ at | date" + arguments + " }}"

    assert render(template, locale=locale, at="2026-11-20T23:30:00Z") == expected


def test_datetime_adds_the_time_of_day():
    template = "{{ at | datetime: 'short', 'Europe/Prague' }}"

    assert render(template, locale="de", at="2026-11-20T23:30:00.123456Z") == "21.11.26, 00:30"


@pytest.mark.parametrize("filter_name", ["date", "datetime"])
def test_date_without_a_time_stays_that_day_in_every_zone(filter_name):
    template = "{{ '2026-11-20' | " + filter_name + ": 'long', 'America/New_York' }}"

    assert render(template) == "November 20, 2026"


def test_time_without_an_offset_is_utc():
    assert render("{{ '2026-11-20T23:30:00' | date: '%d %H', 'Europe/Prague' }}") == "21 00"


@pytest.mark.parametrize(("value", "expected"), [(None, ""), ("", ""), ("soon", "soon"), (5, "5")])
@pytest.mark.parametrize("filter_name", ["date", "datetime"])
def test_what_is_no_date_is_written_as_it_is(filter_name, value, expected):
    assert render("{{ value | " + filter_name + ": 'long' }}", value=value) == expected


def test_date_knows_the_current_day():
    today = datetime.now(UTC).date().isoformat()

    written = render("{{ 'now' | date: '%F' }} {{ 'today' | date: '%F' }} {{ now | date: '%F' }}")

    assert written == f"{today} {today} {today}"


@pytest.mark.parametrize(
    "arguments", ["'sideways'", "'long', 'Moon/Sea'", "'long', '../etc/passwd'", "'long', 'Europe'"]
)
def test_date_refuses_unknown_styles_and_zones(arguments):
    with pytest.raises(TemplateSyntaxError):
        render("{{ '2026-11-20T00:00:00Z' | date: " + arguments + " }}")


@pytest.mark.parametrize(
    ("code", "locale", "expected"),
    [
        ("CZ", "en", "Czechia"),
        ("CZ", "cs-CZ", "Česko"),
        ("de", "de", "Deutschland"),
        ("XX", "en", "XX"),
        (None, "en", ""),
    ],
)
def test_country_is_named_in_the_locale(code, locale, expected):
    assert render("{{ code | country }}", locale=locale, code=code) == expected


def test_filters_are_escaped_in_html():
    assert (
        render_html("{{ '<5>' | date: 'long' }}{{ x | country }}", {"x": "<b>"}, field="body_source")
        == "&lt;5&gt;&lt;b&gt;"
    )

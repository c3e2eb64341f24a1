"""Our own Liquid filters, which format for the message's locale: `money`, `date`, `datetime` and `country`."""

import re
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from babel import Locale
from liquid import RenderContext
from liquid.exceptions import FilterArgumentError
from liquid.filter import liquid_filter, with_context
from liquid.undefined import is_undefined

from emails.renderer.formatting import (
    STYLES,
    Moment,
    find_cldr_locale,
    format_date,
    format_datetime,
    format_money,
    parse_moment,
)
from emails.renderer.message import DEFAULT_LOCALE

# Bounded, as the time for arithmetic grows with the number of digits.
_MINOR_UNITS = re.compile(r"-?[0-9]{1,30}")
_NOW = ("now", "today")
_CURRENCY = re.compile(r"[A-Z]{3}")


@with_context
@liquid_filter
def money(value: object, currency: object = None, locale: object = None, *, context: RenderContext) -> str:
    """`{{ total_cents | money: currency }}`: minor units, as an integer or a decimal string. Empty for nil."""
    if _is_missing(value):
        return ""
    if not _MINOR_UNITS.fullmatch(str(value)):
        raise FilterArgumentError("money takes an integer amount in minor units", token=None)
    if not _CURRENCY.fullmatch(str(currency)):
        raise FilterArgumentError("money needs a currency code such as EUR", token=None)
    return format_money(int(str(value)), str(currency), _choose_locale(locale, context))


@with_context
@liquid_filter
def date_(
    value: object,
    style: object = "medium",
    timezone: object = None,
    locale: object = None,
    *,
    context: RenderContext,
) -> str:
    """`{{ placed_at | date: "long", "Europe/Prague" }}`. A style with `%` is Liquid's own strftime form.

    A value that is no date or time is left as it is, as in Liquid.
    """
    moment = _read_moment(value, timezone)
    if moment is None:
        return _to_text(value)
    if "%" in str(style):
        return moment.strftime(str(style))
    return format_date(moment, _read_style(style), _choose_locale(locale, context))


@with_context
@liquid_filter
def datetime_(
    value: object,
    style: object = "medium",
    timezone: object = None,
    locale: object = None,
    *,
    context: RenderContext,
) -> str:
    """As `date`, with the time of day."""
    moment = _read_moment(value, timezone)
    if moment is None:
        return _to_text(value)
    return format_datetime(moment, _read_style(style), _choose_locale(locale, context))


@with_context
@liquid_filter
def country(value: object, locale: object = None, *, context: RenderContext) -> str:
    """`{{ address.country_code | country }}`: the country's name. An unknown code is left as it is."""
    return _choose_locale(locale, context).territories.get(str(value).upper(), _to_text(value))


def _read_moment(value: object, timezone: object) -> Moment | None:
    """A date or time in a time zone, by default UTC. The words `now` and `today` are the present."""
    if value in _NOW:
        value = datetime.now(UTC)
    moment = parse_moment(value) if isinstance(value, str) else value
    # A datetime is a date too.
    if not isinstance(moment, datetime):
        return moment if isinstance(moment, date) else None
    try:
        return moment.astimezone(ZoneInfo("UTC" if _is_missing(timezone) else str(timezone)))
    except (KeyError, ValueError, OSError):
        # zoneinfo looks names up as files: an OSError may be a folder, or a name that is too long.
        raise FilterArgumentError(f"unknown time zone '{timezone}'", token=None) from None


def _read_style(name: object) -> str:
    if name not in STYLES:
        raise FilterArgumentError(f"unknown style '{name}'; use one of {', '.join(STYLES)}", token=None)
    return str(name)


def _choose_locale(tag: object, context: RenderContext) -> Locale:
    """The locale that the template names, else the message's own."""
    if _is_missing(tag):
        tag = context.resolve("locale", default=None)
    return find_cldr_locale(tag if isinstance(tag, str) else DEFAULT_LOCALE)


def _is_missing(value: object) -> bool:
    return value is None or value == "" or is_undefined(value)


def _to_text(value: object) -> str:
    return "" if _is_missing(value) else str(value)

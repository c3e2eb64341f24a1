"""Reference data: ISO 3166 countries and ISO 4217 currencies, from CLDR. No Django import."""

import zoneinfo
from functools import cache

from babel import Locale
from babel.core import get_global

# Two-letter territories of CLDR that ISO 3166-1 does not assign to a country.
_NOT_COUNTRIES = {"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "XK", "ZZ"}

EU_COUNTRIES = frozenset(
    [
        "AT",
        "BE",
        "BG",
        "CY",
        "CZ",
        "DE",
        "DK",
        "EE",
        "ES",
        "FI",
        "FR",
        "GR",
        "HR",
        "HU",
        "IE",
        "IT",
        "LT",
        "LU",
        "LV",
        "MT",
        "NL",
        "PL",
        "PT",
        "RO",
        "SE",
        "SI",
        "SK",
    ],
)


@cache
def countries() -> frozenset[str]:
    """The 249 codes of ISO 3166-1 alpha-2."""
    territories = [str(code) for code in Locale("en").territories]
    return frozenset(code for code in territories if len(code) == 2 and code.isalpha()) - _NOT_COUNTRIES


@cache
def country_names() -> dict[str, str]:
    """English names of the countries by their code, in alphabetical order of the names."""
    names = {code: Locale("en").territories[code] for code in countries()}
    return dict(sorted(names.items(), key=lambda item: item[1]))


@cache
def currencies() -> frozenset[str]:
    """Codes of the currencies that are legal tender somewhere today."""
    # CLDR lists all currencies that a country has ever had, each with its first and last day.
    histories = get_global("territory_currencies").values()
    return frozenset(
        str(code) for history in histories for code, _, end, is_tender in history if end is None and is_tender
    )


@cache
def time_zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())

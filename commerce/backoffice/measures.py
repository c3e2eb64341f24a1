"""Amounts, percentages and weights as people write them, and the integers that are stored. Exact: there are no floats.

A `Measure` reads and writes one kind of number in a person's locale. Text with more digits than the integer can hold is
refused, never rounded, and so is text that could mean two numbers.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Protocol

from babel import Locale
from babel.numbers import (
    format_currency,
    get_currency_precision,
    get_currency_symbol,
    get_decimal_symbol,
    get_group_symbol,
)
from django.utils.translation import gettext as _

from commerce.reference import currencies

# More than any column needs. Python takes long to read thousands of digits.
_MAX_LENGTH = 60
_TO_ASCII = str.maketrans(
    # Other minus signs; the separators of Arabic and other scripts; spaces and apostrophes between thousands. Marks of
    # the writing direction, which some locales put around signs, have no meaning here.
    {"\u2212": "-", "\u2013": "-", "\ufe63": "-", "\u066b": ".", "\u066c": ",", "\u060c": ",", "\u2e41": ","}
    | dict.fromkeys("'\u2019\u02bc\xb4", "")
    | dict.fromkeys("\u200e\u200f\u061c", "")
)
_SPACES = re.compile(r"\s+")
_NUMBER = re.compile(r"[-+]?(?:\d[\d.,]*|[.,]\d+)")
# Groups of three digits, or of two before the last one, as in India.
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:([.,])\d{2,3}(?:\1\d{2,3})*)?")


class NotReadable(ValueError):
    """A text isn't a number of the measure. The message tells staff what is wrong."""


class Measure(Protocol):
    """How one kind of integer is written. Measures that write alike are equal."""

    def parse(self, text: str, locale: Locale) -> int:
        """Read what somebody typed or pasted. Raises `NotReadable`."""

    def render(self, value: int, locale: Locale) -> str:
        """Write a value for an input, so that `parse` reads it in the same locale."""

    def format(self, value: int, locale: Locale) -> str:
        """Write a value to be read by people."""


@dataclass(frozen=True, slots=True)
class Count:
    """Whole units."""

    def parse(self, text: str, locale: Locale) -> int:
        return _read(_clean(text), 0, locale, too_many=_("Whole units only."))

    def render(self, value: int, locale: Locale) -> str:
        return str(value)

    def format(self, value: int, locale: Locale) -> str:
        return str(value)


@dataclass(frozen=True, slots=True)
class Money:
    """Cents: the currency's minor units."""

    currency: str

    @property
    def digits(self) -> int:
        return count_digits(self.currency)

    def parse(self, text: str, locale: Locale) -> int:
        number = _strip_names(_clean(text), _list_names(self.currency, locale))
        for word in re.findall(r"[A-Za-z]{3}", number):
            if word.upper() in currencies():
                detail = _("This amount is in %(other)s, not in %(currency)s.")
                raise NotReadable(detail % {"other": word.upper(), "currency": self.currency})
        return _read(number, self.digits, locale, too_many=self._describe_digits())

    def _describe_digits(self) -> str:
        details = {
            0: _("Amounts in %(currency)s have no decimals."),
            1: _("Amounts in %(currency)s have at most one decimal."),
            2: _("Amounts in %(currency)s have at most two decimals."),
            3: _("Amounts in %(currency)s have at most three decimals."),
            4: _("Amounts in %(currency)s have at most four decimals."),
        }
        return details[self.digits] % {"currency": self.currency or _("this currency")}

    def render(self, value: int, locale: Locale) -> str:
        return _write(value, self.digits, locale)

    def format(self, value: int, locale: Locale) -> str:
        return format_currency(Decimal(value).scaleb(-self.digits), self.currency, locale=locale)


@dataclass(frozen=True, slots=True)
class NamedMoney(Money):
    """Cents of a currency that isn't obvious from the page, so inputs show its code."""

    def render(self, value: int, locale: Locale) -> str:
        return f"{Money.render(self, value, locale)} {self.currency}"


@dataclass(frozen=True, slots=True)
class Percentage:
    """Basis points: 10,000 are 100 %."""

    def parse(self, text: str, locale: Locale) -> int:
        number = _strip_names(_clean(text), ("%", "\u066a", "\uff05"))
        return _read(number, 2, locale, too_many=_("Percentages have at most two decimals."))

    def render(self, value: int, locale: Locale) -> str:
        return f"{_drop_zeros(_write(value, 2, locale))} %"

    def format(self, value: int, locale: Locale) -> str:
        return self.render(value, locale)


@dataclass(frozen=True, slots=True)
class Weight:
    """Grams. People write "500 g" or "1.2 kg"; a number without a unit is in grams."""

    def parse(self, text: str, locale: Locale) -> int:
        number = _clean(text).lower()
        if number.endswith("kg"):
            too_many = _("Weights have at most three decimals in kg.")
            return _read(number.removesuffix("kg"), 3, locale, too_many=too_many)
        return _read(number.removesuffix("g"), 0, locale, too_many=_("Weights in g have no decimals."))

    def render(self, value: int, locale: Locale) -> str:
        return f"{value} g" if abs(value) < 1000 else f"{_drop_zeros(_write(value, 3, locale))} kg"

    def format(self, value: int, locale: Locale) -> str:
        return self.render(value, locale)


@lru_cache(maxsize=500)
def count_digits(currency: str) -> int:
    """Return how many digits a currency has after the point: JPY 0, EUR 2, KWD 3."""
    digits: int = get_currency_precision(currency)
    return digits


@lru_cache(maxsize=1000)
def _list_names(currency: str, locale: Locale) -> tuple[str, ...]:
    """Return what people write beside an amount in this currency: its code, and its symbols."""
    symbols = (get_currency_symbol(currency, each) for each in (locale, Locale("en")))
    names = {currency, *(_clean(symbol) for symbol in symbols)}
    # The longest first, since one may begin with another.
    return tuple(sorted(names, key=lambda name: (-len(name), name)))


def _clean(text: str) -> str:
    """Return the text with ASCII digits and signs, and without spaces."""
    if len(text) > _MAX_LENGTH:
        raise NotReadable(_("Enter a number."))
    return _SPACES.sub("", "".join(map(_to_ascii_digit, text))).translate(_TO_ASCII)


def _to_ascii_digit(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _strip_names(text: str, names: Iterable[str]) -> str:
    """Remove one of the names from the beginning or end of the text; a sign may be before it."""
    sign, rest = (text[0], text[1:]) if text[:1] in {"-", "+"} else ("", text)
    for name in names:
        if rest.casefold().startswith(name.casefold()):
            return sign + rest[len(name) :]
        if rest.casefold().endswith(name.casefold()):
            return sign + rest[: -len(name)]
    return text


def _read(number: str, digits: int, locale: Locale, *, too_many: str) -> int:
    """Read a number as an integer with this many digits after the point."""
    if not _NUMBER.fullmatch(number):
        raise NotReadable(_("Enter a number."))
    sign, number = (-1, number[1:]) if number[0] == "-" else (1, number.lstrip("+"))
    whole, decimals = _split(number, digits, locale)
    # Zero may have any number of decimals: a page may show 0.00 before a currency without decimals is chosen.
    if not int(whole + decimals):
        return 0
    # Trailing zeros are refused as well: "1.000" typed for EUR may be a thousand.
    if len(decimals) > digits:
        raise NotReadable(too_many)
    return sign * int((whole or "0") + decimals.ljust(digits, "0"))


def _split(number: str, digits: int, locale: Locale) -> tuple[str, str]:
    """Split a number into its digits before and after the point."""
    signs = [character for character in number if character in ".,"]
    if not signs:
        return number, ""
    whole, _sign, decimals = number.rpartition(signs[-1])
    # A sign that occurs several times separates thousands. Of two signs, the last one is the point.
    if signs.count(signs[-1]) > 1 or (len(signs) == 1 and _is_thousands(number, digits, locale)):
        whole, decimals = number, ""
    if any(sign in whole for sign in ".,") and not _has_groups(whole):
        raise NotReadable(_("Enter a number."))
    return whole.replace(".", "").replace(",", ""), decimals


def _is_thousands(number: str, digits: int, locale: Locale) -> bool:
    """Whether the only separator of a number separates thousands. Raises `NotReadable` if nobody can tell."""
    sign = "." if "." in number else ","
    # People also write a point where their locale has a comma: "12.50" is clear in every locale.
    if sign == _clean(get_decimal_symbol(locale)) or not _has_groups(number):
        return False
    # "1.250" is ambiguous if the currency has three decimals, or if the locale doesn't use this sign in numbers.
    if digits >= 3 or sign != _clean(get_group_symbol(locale)):
        raise NotReadable(_("This could be two numbers. Write it without a separator of thousands."))
    return True


def _has_groups(number: str) -> bool:
    """Whether the separators in a whole number separate thousands."""
    match = _GROUPED.fullmatch(number)
    return match is not None and (match[1] is None or len(number.rpartition(match[1])[2]) == 3)


def _write(value: int, digits: int, locale: Locale) -> str:
    """Write an integer with this many digits after the point, and without separators of thousands."""
    sign, text = "-" if value < 0 else "", str(abs(value)).rjust(digits + 1, "0")
    if digits == 0:
        return sign + text
    return f"{sign}{text[:-digits]}{_clean(get_decimal_symbol(locale))}{text[-digits:]}"


def _drop_zeros(number: str) -> str:
    """Remove trailing zeros from a number that has decimals."""
    return number.rstrip("0").rstrip(".,")

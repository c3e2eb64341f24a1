"""EU VAT numbers, and who owes the tax: pure rules, no Django import."""

import re
from dataclasses import dataclass

from stdnum.eu import vat
from stdnum.exceptions import ValidationError

from commerce.errors import FieldError
from commerce.reference import EU_COUNTRIES

from .errors import VatNumberInvalid

# Greek VAT numbers begin with EL; the country code is GR.
_PREFIXES = {"GR": "EL"}
_COUNTRIES = {prefix: country_code for country_code, prefix in _PREFIXES.items()}
# Northern Ireland is in the EU's VAT area for goods, and VIES knows its numbers, but it isn't an EU country.
_NORTHERN_IRELAND = "XI"


@dataclass(frozen=True, slots=True)
class VatNumber:
    """A well-formed number: its country (GR for Greece), and the number without the prefix."""

    country_code: str
    number: str

    @property
    def prefix(self) -> str:
        """The country as VAT numbers and VIES write it."""
        return _PREFIXES.get(self.country_code, self.country_code)

    def __str__(self) -> str:
        return self.prefix + self.number


def parse_vat_number(country_code: str, text: str) -> VatNumber:
    """Parse a number as typed, with or without prefix and separators. Raises `VatNumberInvalid`."""
    country_code = _normalise_country(country_code)
    if country_code not in EU_COUNTRIES | {_NORTHERN_IRELAND}:
        raise _make_refusal("vat_country_code", "unknown_country", "Not a country that gives EU VAT numbers.")
    prefix = _PREFIXES.get(country_code, country_code)
    # Shoppers type a Greek number with either prefix.
    typed = re.sub(f"^({country_code}|{prefix})", "", text.strip().upper())
    try:
        number = vat.validate(prefix + typed)
    except ValidationError:
        raise _make_refusal(
            "vat_number",
            "invalid",
            "Not a VAT number of this country: its length, form or check digit is wrong.",
        ) from None
    return VatNumber(country_code, number.removeprefix(prefix))


def country_of(vat_number: str | None) -> str | None:
    """The EU country that issued a prefixed number; None if there is none."""
    country_code = _normalise_country((vat_number or "").strip()[:2])
    return country_code if country_code in EU_COUNTRIES else None


def is_reverse_charge(*, seller: str | None, buyer: str, destination: str | None) -> bool:
    """Whether the buyer owes the tax, so that none is charged.

    `seller` and `buyer` are the countries of their VAT numbers (the buyer's must be valid); `destination` is where the
    goods go. It applies if all three are in the EU, and buyer and destination outside the seller's country.
    Source: Council Directive 2006/112/EC, articles 138 and 196.
    """
    return (
        seller in EU_COUNTRIES and buyer in EU_COUNTRIES - {seller} and destination in EU_COUNTRIES - {seller}
    )


def _normalise_country(code: str) -> str:
    return _COUNTRIES.get(code.upper(), code.upper())


def _make_refusal(field: str, code: str, detail: str) -> VatNumberInvalid:
    return VatNumberInvalid(detail, errors=(FieldError(field, code, detail),))

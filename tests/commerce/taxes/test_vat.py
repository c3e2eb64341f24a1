"""EU VAT numbers as people type them, and the reverse charge rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.reference import EU_COUNTRIES
from commerce.taxes.errors import VatNumberInvalid
from commerce.taxes.vat import VatNumber, country_of, is_reverse_charge, parse_vat_number

CODES = st.sampled_from(sorted(EU_COUNTRIES | {"EL", "XI", "GB", "EU", "US", "de", ""}))


@pytest.mark.parametrize(
    ("country_code", "typed", "number"),
    [
        ("AT", "U57194903", VatNumber("AT", "U57194903")),
        ("AT", "ATU57194903", VatNumber("AT", "U57194903")),
        ("de", " de 136.695-976 ", VatNumber("DE", "136695976")),
        ("BE", "697449992", VatNumber("BE", "0697449992")),
        ("NL", "4495445B01", VatNumber("NL", "004495445B01")),
        ("EL", "094259216", VatNumber("GR", "094259216")),
        ("GR", "EL094259216", VatNumber("GR", "094259216")),
        ("EL", "GR 094259216", VatNumber("GR", "094259216")),
        ("XI", "XI432525179", VatNumber("XI", "432525179")),
    ],
)
def test_number_is_read_however_it_is_typed(country_code, typed, number):
    assert parse_vat_number(country_code, typed) == number


def test_greek_number_begins_with_el():
    assert str(VatNumber("GR", "094259216")) == "EL094259216"
    assert str(VatNumber("AT", "U57194903")) == "ATU57194903"


@pytest.mark.parametrize(
    ("country_code", "typed", "field"),
    [
        ("DE", "136695977", "vat_number"),
        ("DE", "13669597", "vat_number"),
        ("DE", "DEDE136695976", "vat_number"),
        ("DE", "ATU57194903", "vat_number"),
        ("AT", "-", "vat_number"),
        ("GB", "432525179", "vat_country_code"),
        ("EU", "372000041", "vat_country_code"),
        ("US", "1", "vat_country_code"),
        ("", "DE136695976", "vat_country_code"),
    ],
)
def test_other_forms_are_refused(country_code, typed, field):
    with pytest.raises(VatNumberInvalid) as refused:
        parse_vat_number(country_code, typed)

    assert [error.field for error in refused.value.errors] == [field]


@given(CODES, st.text(max_size=32) | st.from_regex(r"[A-Z]{0,2}[0-9]{2,12}[A-Z]?", fullmatch=True))
def test_any_text_is_a_number_or_refused(country_code, typed):
    try:
        number = parse_vat_number(country_code, typed)
    except VatNumberInvalid:
        return
    assert parse_vat_number(number.country_code, str(number)) == number
    assert str(number).isascii()


@pytest.mark.parametrize(
    ("vat_number", "country_code"),
    [
        ("CZ25123891", "CZ"),
        (" cz 25123891", "CZ"),
        ("EL094259216", "GR"),
        ("GR094259216", "GR"),
        ("GB432525179", None),
        ("XI432525179", None),
        ("25123891", None),
        ("", None),
        (None, None),
    ],
)
def test_country_of_a_number(vat_number, country_code):
    assert country_of(vat_number) == country_code


@pytest.mark.parametrize(
    ("seller", "buyer", "destination", "expected"),
    [
        ("CZ", "AT", "AT", True),
        ("CZ", "AT", "DE", True),
        ("GR", "CY", "CY", True),
        ("CZ", "CZ", "AT", False),
        ("CZ", "AT", "CZ", False),
        ("CZ", "AT", "CH", False),
        ("CZ", "AT", "GB", False),
        ("CZ", "AT", None, False),
        (None, "AT", "AT", False),
        ("CZ", "XI", "AT", False),
        ("CH", "AT", "AT", False),
    ],
)
def test_reverse_charge(seller, buyer, destination, expected):
    assert is_reverse_charge(seller=seller, buyer=buyer, destination=destination) is expected

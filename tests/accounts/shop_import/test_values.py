"""The numbers and names in cells of exported files."""

import pytest

from accounts.shop_import.values import (
    CellRefused,
    build_handle,
    build_sku,
    parse_amount,
    parse_flag,
    parse_grams,
    parse_units,
)


@pytest.mark.parametrize(
    ("text", "digits", "cents"),
    [
        ("19.90", 2, 1990), ("19,90", 2, 1990), ("19.9", 2, 1990), ("19", 2, 1900), ("0", 2, 0), ("0.29", 2, 29),
        ("19.9000", 2, 1990), ("1200", 0, 1200), ("1200.00", 0, 1200), ("1.250", 3, 1250), ("", 2, None),
        ("1000000000.00", 2, 100_000_000_000),
    ],
)  # fmt: skip
def test_amount_is_read_as_cents(text, digits, cents):
    assert parse_amount("Price", text, digits=digits) == cents


@pytest.mark.parametrize(
    ("text", "digits", "reason"),
    [
        ("19.9951", 2, "19.9951 has more than 2 decimals."),
        ("19.995", 2, "19.995 could be two different amounts."),
        ("1,250", 2, "1,250 could be two different amounts."),
        ("1.250", 0, "1.250 could be two different amounts."),
        ("0.5", 0, "0.5 has more than 0 decimals."),
        ("1,250.00", 2, "1,250.00 isn't a number."),
        ("1 250", 2, "1 250 isn't a number."),
        ("19.90 EUR", 2, "19.90 EUR isn't a number."),
        ("1e3", 2, "1e3 isn't a number."),
        ("١٩", 2, "١٩ isn't a number."),
        ("-1", 2, "-1 is negative."),
        ("1000000000.01", 2, "1000000000.01 is too large."),
    ],
)
def test_amount_that_could_be_read_wrongly_is_refused(text, digits, reason):
    with pytest.raises(CellRefused) as refused:
        parse_amount("Price", text, digits=digits)

    assert str(refused.value) == f"Price: {reason}"


@pytest.mark.parametrize(("text", "units"), [("12", 12), ("-3", -3), ("7.0", 7), ("0", 0)])
def test_units_are_read(text, units):
    assert parse_units("Stock", text) == units


@pytest.mark.parametrize("text", ["1.5", "1,000", "1.000", "many", "1000000001", ""])
def test_units_that_are_no_whole_number_are_refused(text):
    with pytest.raises(CellRefused):
        parse_units("Stock", text)


@pytest.mark.parametrize(
    ("text", "unit", "grams"),
    [
        ("0.35", "kg", 350), ("0,35", "kg", 350), ("312", "g", 312), ("312.5", "g", 313), ("1", "lbs", 454),
        ("2", "oz", 57), ("", "kg", 0), ("0.0005", "kg", 1),
        ("1,250", "kg", 1250), ("226.796", "g", 227),
    ],
)  # fmt: skip
def test_weight_is_rounded_to_grams(text, unit, grams):
    assert parse_grams("Weight", text, unit=unit) == grams


@pytest.mark.parametrize(
    ("text", "unit"), [("1", "st"), ("-1", "kg"), ("heavy", "g"), ("1,250", "g"), ("100001", "kg")]
)
def test_weight_that_cannot_be_stored_is_refused(text, unit):
    with pytest.raises(CellRefused):
        parse_grams("Weight", text, unit=unit)


def test_flag_is_read_in_any_case():
    texts = ["TRUE", "true", "1", "yes", "FALSE", "0", "no", ""]

    assert [parse_flag("Taxable", text, default=True) for text in texts] == [
        True, True, True, True, False, False, False, True,
    ]  # fmt: skip
    with pytest.raises(CellRefused):
        parse_flag("Taxable", "perhaps", default=True)


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("notizbuch-feldweg", "notizbuch-feldweg"),
        ("Čajové svíčky, 12 ks", "cajove-svicky-12-ks"),
        ("Straße 7", "strasse-7"),
        ("a" * 63, "a" * 63),
        ("a" * 64, f"{'a' * 54}-ffe054fe"),
        ("手帳", "product-0726bdd7"),
    ],
)
def test_handle_is_made_of_any_name(text, handle):
    assert build_handle(text) == handle


def test_sku_is_made_of_handle_and_title():
    assert build_sku("tea", "") == "tea"
    assert build_sku("tea", "100 g / Tin") == "tea-100-g-tin"
    assert len(build_sku("a" * 63, "Blue")) == 64
    assert build_sku("a" * 63, "Blue") != build_sku("a" * 63, "Red")

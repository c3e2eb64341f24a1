from decimal import Decimal

import pytest

from shipping.pickup_feeds.errors import LineRefused
from shipping.pickup_feeds.points import Point, build_point


def fields(**changes):
    return {"external_id": "79", "name": "Praha 1", "country_code": "CZ"} | changes


def test_point_of_few_fields():
    assert build_point(fields(), carrier="packeta") == Point(
        external_id="79",
        kind="point",
        name="Praha 1",
        address1="",
        city="",
        zip="",
        normalised_zip="",
        country_code="CZ",
        latitude=None,
        longitude=None,
        opening_hours=None,
        is_cod_supported=False,
        max_weight_grams=None,
        status="active",
    )


@pytest.mark.parametrize("is_text", [True, False])
def test_point_of_all_fields_as_text_or_typed(is_text):
    given = fields(
        carrier="packeta",
        external_id=79,
        kind="locker",
        address1=" Vodičkova 12 ",
        city="Praha",
        zip="110-00 a",
        country_code="cz",
        latitude=50.08,
        longitude=-14.4212345,
        opening_hours='{"mon":"8-18"}' if is_text else {"mon": "8-18"},
        is_cod_supported="TRUE" if is_text else True,
        max_weight_grams=10000,
        status="closed",
    )

    point = build_point(
        {name: str(value) for name, value in given.items()} if is_text else given, carrier="packeta"
    )

    assert point == Point(
        external_id="79",
        kind="locker",
        name="Praha 1",
        address1="Vodičkova 12",
        city="Praha",
        zip="110-00 a",
        normalised_zip="11000A",
        country_code="CZ",
        latitude=Decimal("50.080000"),
        longitude=Decimal("-14.421234"),
        opening_hours='{"mon":"8-18"}',
        is_cod_supported=True,
        max_weight_grams=10000,
        status="closed",
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"carrier": "gls"}, "carrier is not packeta"),
        ({"external_id": None}, "external_id is missing"),
        ({"external_id": " "}, "external_id is missing"),
        ({"external_id": True}, "external_id isn't text"),
        ({"external_id": 1.5}, "external_id isn't text"),
        ({"external_id": "9" * 65}, "external_id is longer than 64 characters"),
        ({"name": ["a"]}, "name isn't text"),
        ({"name": "a\0b"}, "name contains invalid characters"),
        ({"name": "\ud800"}, "name contains invalid characters"),
        ({"name": "a" * 256}, "name is longer than 255 characters"),
        ({"zip": "1" * 17}, "zip is longer than 16 characters"),
        ({"zip": "ß" * 9}, "zip is longer than 16 characters in upper case"),
        ({"country_code": "XX"}, "country_code isn't an ISO 3166 country code"),
        ({"country_code": "CZE"}, "country_code is longer than 2 characters"),
        ({"kind": "box"}, "kind is not point or locker"),
        ({"status": "gone"}, "status is not active or closed"),
        ({"latitude": "north"}, "latitude isn't a number"),
        ({"latitude": "NaN"}, "latitude isn't a number"),
        ({"latitude": 90.1}, "latitude is not within 90 degrees"),
        ({"longitude": -180.1}, "longitude is not within 180 degrees"),
        ({"longitude": "1e999999"}, "longitude is not within 180 degrees"),
        ({"longitude": {"deg": 1}}, "longitude isn't a number"),
        ({"is_cod_supported": "perhaps"}, "is_cod_supported is not true or false"),
        ({"max_weight_grams": -1}, "max_weight_grams isn't a whole number of grams"),
        ({"max_weight_grams": 1.5}, "max_weight_grams isn't a whole number of grams"),
        ({"max_weight_grams": 2_147_483_648}, "max_weight_grams isn't a whole number of grams"),
        ({"max_weight_grams": True}, "max_weight_grams isn't a number"),
        ({"opening_hours": "8-18"}, "opening_hours isn't a JSON object or list of at most 16384 characters"),
        ({"opening_hours": 8}, "opening_hours isn't a JSON object or list of at most 16384 characters"),
        (
            {"opening_hours": {"a": "\0"}},
            "opening_hours isn't a JSON object or list of at most 16384 characters",
        ),
        (
            {"opening_hours": {"a": "\ud800"}},
            "opening_hours isn't a JSON object or list of at most 16384 characters",
        ),
        (
            {"opening_hours": ["8" * 16384]},
            "opening_hours isn't a JSON object or list of at most 16384 characters",
        ),
    ],
)
def test_point_of_a_wrong_field_is_refused(changes, reason):
    with pytest.raises(LineRefused) as caught:
        build_point(fields(**changes), carrier="packeta")

    assert str(caught.value) == reason

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipping.api.serializers import shape_quote
from shipping.matching import (
    Candidate,
    Method,
    Objection,
    Parcel,
    Rate,
    Zone,
    compute_automatic_rate_id,
    is_zip_covered,
    list_matching_patterns,
    list_options,
    normalise_zip,
    read_automatic_rate_id,
)
from tests.shipping.strategies import candidates, parcels


def parcel(**fields):
    defaults = {"country_code": "DE", "zip": "10115", "weight_grams": 1000, "subtotal_cents": 5000}
    return Parcel(**defaults | {"currency": "EUR"} | fields)


def method(method_id=1, *, rate_mode="tiered"):
    return Method(method_id, f"method-{method_id}", "Parcel", "dhl", "parcel", rate_mode)


def candidate(*rates, zone=None, **fields):
    return Candidate(zone=zone or Zone(["DE"]), method=method(**fields), rates=rates)


def quoted(asked, *found):
    """Return `(method id, rate id, is_best)` of each option, in order."""
    return [(option.method.id, option.rate.id, option.is_best) for option in list_options(asked, found)]


@pytest.mark.parametrize(
    ("code", "patterns", "expected"),
    [
        ("10115", ["10115"], True),
        ("10115", ["10116"], False),
        ("10115", ["10*"], True),
        ("10115", ["*"], True),
        ("20095", ["10*", "20*"], True),
        ("1011", ["10115"], False),
        ("sw1a 1aa", ["SW1A*"], True),
        ("SW1A1AA", ["sw1a-1*"], True),
        ("100 00", ["10000"], True),
        ("", ["*"], False),
        ("", ["10*"], False),
        (" - ", ["*"], False),
    ],
)
def test_zip_matches_prefixes_and_exact_codes(code, patterns, expected):
    assert is_zip_covered(code, patterns) is expected


def test_normalise_zip_leaves_letters_and_digits():
    assert normalise_zip(" sw1a-1aa\t") == "SW1A1AA"


def test_matching_patterns_are_the_code_and_its_beginnings():
    assert list_matching_patterns("1 0-a") == ["10A", "*", "1*", "10*", "10A*"]
    assert list_matching_patterns(" - ") == []


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        (Zone(["DE"]), None),
        (Zone(["AT", "DE"]), None),
        (Zone(["AT"]), Objection.COUNTRY),
        (Zone(["AT"], ["20*"], 8), Objection.COUNTRY),
        (Zone(["DE"], ["10*"]), None),
        (Zone(["DE"], ["20*"]), Objection.POSTCODE),
        (Zone(["DE"], [], 7), None),
        (Zone(["DE"], [], 8), Objection.MARKET),
        (Zone(["DE"], ["20*"], 8), Objection.MARKET),
    ],
)
def test_zone_objects_to_country_market_and_postcode(zone, expected):
    assert zone.find_objection(parcel(market_id=7)) is expected


def test_zone_of_any_market_takes_a_parcel_without_one():
    assert Zone(["DE"], [], 7).find_objection(parcel()) is None


def test_zone_without_patterns_covers_a_destination_without_postcode():
    assert Zone(["DE"]).find_objection(parcel(zip="")) is None


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({}, None),
        ({"min_weight_grams": 1000}, None),
        ({"min_weight_grams": 1001}, Objection.WEIGHT),
        ({"max_weight_grams": 1000}, None),
        ({"max_weight_grams": 999}, Objection.WEIGHT),
        ({"min_subtotal_cents": 5000}, None),
        ({"min_subtotal_cents": 5001}, Objection.SUBTOTAL),
        ({"max_subtotal_cents": 5000}, None),
        ({"max_subtotal_cents": 4999}, Objection.SUBTOTAL),
        ({"min_quantity": 2}, None),
        ({"min_quantity": 3}, Objection.QUANTITY),
        ({"max_quantity": 2}, None),
        ({"max_quantity": 1}, Objection.QUANTITY),
        ({"min_weight_grams": 1, "max_weight_grams": 2000, "min_quantity": 3}, Objection.QUANTITY),
        ({"currency": "USD", "min_weight_grams": 1001}, Objection.CURRENCY),
    ],
)
def test_rate_objects_to_the_first_bound_that_does_not_hold(bounds, expected):
    rate = Rate(**{"id": 1, "price_cents": 490, "currency": "EUR"} | bounds)

    assert rate.find_objection(parcel(quantity=2)) is expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (candidate(zone=Zone(["AT"])), [(None, Objection.COUNTRY)]),
        (candidate(Rate(1, 490, "EUR"), zone=Zone(["AT"])), [(None, Objection.COUNTRY)]),
        (candidate(), [(None, Objection.NO_RATE)]),
        (candidate(rate_mode="free"), [(None, Objection.NO_RATE)]),
        (candidate(Rate(1, 490, "EUR"), Rate(2, 490, "USD")), [(1, None), (2, Objection.CURRENCY)]),
        (
            candidate(Rate(1, 0, "EUR", is_automatic=True), Rate(2, 0, "USD"), rate_mode="free"),
            [(1, Objection.SUPERSEDED), (2, Objection.CURRENCY)],
        ),
        (candidate(Rate(1, 0, "EUR", is_automatic=True), rate_mode="free"), [(1, None)]),
    ],
)
def test_verdicts_say_what_speaks_against_each_rate(found, expected):
    said = [(verdict.rate and verdict.rate.id, verdict.objection) for verdict in found.judge_rates(parcel())]

    assert said == expected


def test_options_are_ordered_by_price_then_method_then_most_specific():
    first = candidate(
        Rate(1, 500, "EUR"), Rate(2, 500, "EUR", max_quantity=9), Rate(3, 900, "EUR"), method_id=1
    )
    second = candidate(Rate(4, 500, "EUR"), Rate(5, 400, "EUR"), method_id=2)

    assert quoted(parcel(), second, first) == [
        (2, 5, True),
        (1, 2, True),
        (1, 1, False),
        (2, 4, False),
        (1, 3, False),
    ]


def test_options_of_another_currency_are_left_out():
    assert quoted(parcel(), candidate(Rate(1, 500, "USD"), Rate(2, 600, "EUR"))) == [(1, 2, True)]


def test_options_of_a_free_method_prefer_its_own_rates():
    own, automatic = Rate(2, 0, "EUR", min_subtotal_cents=9000), Rate(1, 0, "EUR", is_automatic=True)

    assert quoted(parcel(), candidate(automatic, rate_mode="free")) == [(1, 1, True)]
    assert quoted(parcel(), candidate(automatic, own, rate_mode="free")) == []
    assert quoted(parcel(subtotal_cents=9000), candidate(automatic, own, rate_mode="free")) == [(1, 2, True)]


def test_options_ignore_automatic_rates_of_a_method_that_is_no_longer_free():
    assert quoted(parcel(), candidate(Rate(1, 0, "EUR", is_automatic=True), rate_mode="tiered")) == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (candidate(rate_mode="free"), True),
        (candidate(Rate(1, 0, "USD", is_automatic=True), rate_mode="free"), True),
        (candidate(Rate(1, 0, "EUR", is_automatic=True), rate_mode="free"), False),
        (candidate(Rate(1, 0, "USD"), rate_mode="free"), False),
        (candidate(rate_mode="free", zone=Zone(["AT"])), False),
        (candidate(rate_mode="tiered"), False),
    ],
)
def test_candidate_lacks_a_rate_when_free_without_any_in_the_currency(found, expected):
    assert found.needs_automatic_rate(parcel()) is expected


def test_option_is_answered_with_decimal_strings():
    carrier = Method(12, "dhl", "DHL", "dhl", "parcel", "tiered", True, True, 1, 3, 150)
    found = Candidate(zone=Zone(["DE"]), method=carrier, rates=[Rate(34, 0, "EUR", "Up to 5 kg")])

    (option,) = list_options(parcel(), [found])

    assert shape_quote(option) == {
        "method": {
            "id": "12",
            "handle": "dhl",
            "name": "DHL",
            "carrier": "dhl",
            "service_code": "parcel",
            "rate_mode": "tiered",
            "requires_pickup_point": True,
            "is_cod_compatible": True,
            "estimated_days_min": 1,
            "estimated_days_max": 3,
            "cod_fee_cents": "150",
        },
        "rate_id": "34",
        "price_cents": "0",
        "currency": "EUR",
        "is_free": True,
        "is_best": True,
        "display_name": "Up to 5 kg",
    }


def test_option_of_a_rate_without_a_name_has_that_of_its_method():
    (option,) = list_options(parcel(), [candidate(Rate(34, 0, "EUR"))])

    assert option.display_name == option.method.name


@given(parcels(), st.lists(candidates(), max_size=6))
def test_options_agree_with_a_naive_restatement(asked, found):
    expected = []
    for one in found:
        for rate in one.rates:
            if naively_applies(asked, one, rate):
                set_bounds = sum(value is not None for name, value in bounds_of(rate))
                expected.append((rate.price_cents, one.method.id, -set_bounds, rate.id))

    answer = list_options(asked, found)

    assert [(option.method.id, option.rate.id) for option in answer] == [
        (method_id, rate_id) for _, method_id, _, rate_id in sorted(expected)
    ]
    for option in answer:
        earlier = answer[: answer.index(option)]
        assert option.is_best is all(other.method.id != option.method.id for other in earlier)


@given(parcels(), st.lists(candidates(), max_size=6))
def test_rate_is_offered_exactly_when_nothing_speaks_against_it(asked, found):
    without_objection = [
        verdict.rate.id for one in found for verdict in one.judge_rates(asked) if verdict.objection is None
    ]

    assert sorted(without_objection) == sorted(option.rate.id for option in list_options(asked, found))


@given(parcels(), st.lists(candidates(), max_size=6))
def test_every_candidate_and_every_rate_that_matters_gets_a_verdict(asked, found):
    for one in found:
        said = [verdict.rate for verdict in one.judge_rates(asked)]
        assert said == [None] or said == list(one.rates)


def naively_applies(asked, found, rate):
    if rate.is_automatic and (
        found.method.rate_mode != "free" or any(not other.is_automatic for other in found.rates)
    ):
        return False
    if asked.country_code not in found.zone.country_codes or rate.currency != asked.currency:
        return False
    is_market_known = asked.market_id is not None and found.zone.market_id is not None
    if is_market_known and found.zone.market_id != asked.market_id:
        return False
    if found.zone.zip_patterns and not any(naively_fits(asked.zip, p) for p in found.zone.zip_patterns):
        return False
    actual = {
        "weight_grams": asked.weight_grams,
        "subtotal_cents": asked.subtotal_cents,
        "quantity": asked.quantity,
    }
    for name, bound in bounds_of(rate):
        end, _, measure = name.partition("_")
        if bound is not None and (actual[measure] < bound if end == "min" else actual[measure] > bound):
            return False
    return True


def bounds_of(rate):
    return [(name, getattr(rate, name)) for name in Rate.__slots__ if name.startswith(("min_", "max_"))]


def naively_fits(code, pattern):
    code, pattern = ("".join(text.split()).replace("-", "").upper() for text in (code, pattern))
    if not code:
        return False
    return code[: len(pattern) - 1] + "*" == pattern if "*" in pattern else code == pattern


@pytest.mark.parametrize("currency", ["AAA", "EUR", "CZK", "ZZZ"])
@pytest.mark.parametrize("method_id", [1, 2**37])
def test_automatic_rates_id_tells_its_method_and_currency(method_id, currency):
    rate_id = compute_automatic_rate_id(method_id, currency)

    assert 2**52 <= rate_id < 2**53
    assert read_automatic_rate_id(rate_id) == (method_id, currency)
    assert read_automatic_rate_id(method_id) is None

"""Unknown fields are named in a header, or refused if the client asks for strict handling."""

import re

import pytest

from tests import factories
from tests.problems import field_errors, problem
from tests.rest.bodies import sample, serializer_of
from tests.rest.routes import rolling_back, routes

STRICT = "handling=strict"
TYPO = {"type": "discount_code", "code": "A", "title": "A", "value_mode": "percentage", "value_amount": 1000}


def read_headers(response):
    return response.get("X-Unknown-Fields"), response.get("Preference-Applied")


def unknown_in(response):
    assert problem(response) == (422, "unknown_field")
    return [error["field"] for error in response.json()["errors"]]


def ask(world, route, body, query="", **headers):
    client = world.shop.workspace if route.surface == "admin" else world.shop.storefront
    headers = headers | {"idempotency_key": "some-key-of-a-test"} if route.method == "POST" else headers
    with rolling_back():
        return client.send(route.method, world.path(route) + query, body, **headers)


def test_unknown_field_is_taken_and_named(shop):
    made = shop.admin.post("discounts.json", TYPO | {"usage_limit": 5})

    assert (made.status_code, read_headers(made)) == (201, ("usage_limit", None))
    assert made.json()["discount"]["usage_limit_total"] is None


def test_unknown_field_is_refused_under_strict_handling(shop):
    refused = shop.admin.post("discounts.json", TYPO | {"usage_limit": 5, "cap": 1}, prefer=STRICT)

    assert problem(refused) == (422, "unknown_field")
    assert refused.json()["errors"] == [
        {"field": name, "code": "unknown_field", "detail": "There is no such field."}
        for name in ("usage_limit", "cap")
    ]
    assert read_headers(refused) == ("usage_limit, cap", "handling=strict")
    assert shop.admin.get("discounts.json").json()["discounts"] == []


def test_known_fields_under_strict_handling_are_done_and_the_answer_says_so(shop):
    made = shop.admin.post("discounts.json", TYPO | {"usage_limit_total": 5}, prefer=STRICT)

    assert (made.status_code, read_headers(made)) == (201, (None, "handling=strict"))


def test_answer_to_known_fields_says_nothing(shop):
    assert read_headers(shop.admin.post("discounts.json", TYPO)) == (None, None)
    assert read_headers(shop.admin.get("discounts.json?limit=1&status=active")) == (None, None)


NESTED = {
    "products": (
        "products.json",
        {
            "handle": "tea",
            "title": "Tea",
            "foo": 1,
            "variants": [
                {"sku": "A", "pricing": []},
                {"sku": "B", "wieght": 1, "pricing": [{"market_id": 1, "price_cents": 1, "foo": 1}]},
            ],
        },
        ["foo", "variants.1.wieght", "variants.1.pricing.0.foo"],
    ),
    "bogo_config": (
        "discounts.json",
        TYPO | {"bogo_config": {"buy": {"quantity": 1, "skus": []}, "get": {"quantity": 1}, "limit": 1}},
        ["bogo_config.limit", "bogo_config.buy.skus"],
    ),
    "bulk_tiers": (
        "discounts.json",
        TYPO | {"bulk_tiers": {"scope": "line", "tiers": [{"min_quantity": 1, "max_quantity": 2}]}},
        ["bulk_tiers.tiers.0.max_quantity"],
    ),
    "segment": (
        "segments.json",
        {"handle": "a", "name": "A", "filter": {"any": [], "all": [{"field": "tag", "not": True}]}},
        ["filter.any", "filter.all.0.not"],
    ),
}


@pytest.mark.parametrize(("path", "body", "names"), NESTED.values(), ids=NESTED)
def test_nested_fields_are_named_by_their_paths(shop, path, body, names):
    refused = shop.admin.post(path, body, prefer=STRICT)

    assert unknown_in(refused) == names
    assert read_headers(refused) == (", ".join(names), "handling=strict")
    assert read_headers(shop.admin.post(path, body)) == (", ".join(names), None)


def test_addresses_have_unknown_fields_too(shop):
    body = {"shipping_address": {"city": "Berlin", "zipcode": "10115"}, "billing": {}}

    refused = shop.storefront.put("checkouts/none/address.json", body, prefer=STRICT)

    assert unknown_in(refused) == ["billing", "shipping_address.zipcode"]


def test_objects_of_the_clients_own_have_none(shop):
    body = {"market_id": shop.market.pk, "utm": {"anything": {"goes": 1}}}

    made = shop.storefront.post("carts.json", body, prefer=STRICT)

    assert (made.status_code, read_headers(made)) == (201, (None, "handling=strict"))


def test_field_that_is_refused_by_a_code_of_its_own_keeps_it(shop):
    method = factories.make_method(shop)
    body = {"price_cents": 0, "currency": "EUR", "is_free": True}

    refused = shop.admin.post(f"shipping/methods/{method.pk}/rates.json", body, prefer=STRICT)

    assert (problem(refused), read_headers(refused)) == ((422, "read_only_field"), (None, "handling=strict"))


def test_parameter_that_is_misspelt_is_named_or_refused(shop):
    taken = shop.admin.get("discounts.json?stauts=active&limit=1")
    refused = shop.admin.get("discounts.json?stauts=active&limit=1", prefer=STRICT)

    assert (taken.status_code, read_headers(taken)) == (200, ("stauts", None))
    assert unknown_in(refused) == ["stauts"]


def test_unknown_field_shows_beside_the_field_that_was_meant(shop):
    refused = shop.storefront.post("carts.json", {"marketid": shop.market.pk})

    assert (field_errors(refused), read_headers(refused)) == ({("market_id", "required")}, ("marketid", None))


@pytest.mark.parametrize(
    ("prefer", "is_strict"),
    [
        ("handling=strict", True),
        ("Handling = Strict", True),
        ('handling="strict"', True),
        ("respond-async, handling=strict; wait=1", True),
        ("handling=lenient, handling=strict", False),
        ("handling=lenient", False),
        ("handling", False),
        ("mishandling=strict", False),
        ("", False),
    ],
)
def test_preference_is_read_as_rfc_7240_says(shop, prefer, is_strict):
    response = shop.storefront.post("carts.json", {"market_id": shop.market.pk, "x": 1}, prefer=prefer)

    assert response.status_code == (422 if is_strict else 201)
    assert read_headers(response) == ("x", "handling=strict" if is_strict else None)


HOSTILE = ["a\r\nSet-Cookie: a=b", "\x00", "ÿ", "日本語", "\U0001f984" * 1000, ", ", "", "a" * 1_000_000]


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name)[:12])
@pytest.mark.parametrize("prefer", [STRICT, "handling=lenient"])
def test_names_are_safe_in_the_header(shop, name, prefer):
    response = shop.storefront.post("carts.json", {"market_id": shop.market.pk, name: 1}, prefer=prefer)

    assert response.status_code == (422 if prefer == STRICT else 201)
    assert re.fullmatch(r"[A-Za-z0-9%_.~-]{0,100}", response["X-Unknown-Fields"])
    assert "Set-Cookie" not in response.headers


def test_header_and_errors_are_bounded(shop):
    body = {f"{'é' * 50}{number}": 1 for number in range(5000)}

    refused = shop.storefront.post("carts.json", body, prefer=STRICT)

    assert len(refused["X-Unknown-Fields"].split(", ")) == 20
    assert len(refused["X-Unknown-Fields"].encode()) <= 20 * 102
    assert len(refused.json()["errors"]) == 100


def test_replayed_answer_names_them_too(shop):
    body = {"market_id": shop.market.pk, "typo": 1}
    shop.storefront.post("carts.json", body, idempotency_key="a-key-long-enough")

    replayed = shop.storefront.post("carts.json", body, idempotency_key="a-key-long-enough")
    strict = shop.storefront.post("carts.json", body, idempotency_key="a-key-long-enough", prefer=STRICT)

    assert [(r["Idempotent-Replayed"], read_headers(r)) for r in (replayed, strict)] == [
        ("true", ("typo", None))
    ] * 2


def test_refusal_leaves_the_idempotency_key_free(shop):
    body = {"market_id": shop.market.pk}
    shop.storefront.post("carts.json", body | {"x": 1}, idempotency_key="a-key-long-enough", prefer=STRICT)

    made = shop.storefront.post("carts.json", body, idempotency_key="a-key-long-enough", prefer=STRICT)

    assert (made.status_code, read_headers(made)) == (201, (None, "handling=strict"))


def test_every_route_refuses_unknown_fields_and_parameters(world):
    """Including routes without a body and those that call other services."""
    unsound = []
    for route in routes():
        asked = [ask(world, route, None, "?unheard_of=1", prefer=STRICT)]
        if route.takes_body:
            body = sample(serializer_of(route), world) | {"unheard_of": {"deep": [1]}}
            asked.append(ask(world, route, body, prefer=STRICT))
        unsound += [
            (str(route), response.content[:200])
            for response in asked
            if (response.status_code, read_headers(response)) != (422, ("unheard_of", "handling=strict"))
        ]

    assert unsound == []


def test_every_route_knows_what_it_declares(world):
    """A sample of the declared body succeeds or is refused for another reason, and none of its fields is unknown."""
    named = []
    for route in routes():
        body = sample(serializer_of(route), world) if route.takes_body else None
        response = ask(world, route, body, prefer=STRICT)
        if read_headers(response) != (None, "handling=strict"):
            named.append((str(route), response.status_code, read_headers(response), response.content[:200]))

    assert named == []

"""Pages of other origins may use the storefront API, and nothing else."""

import pytest
from django.test import Client

from tests.clients import ADMIN_ROOT, STOREFRONT_ROOT

ORIGIN = {"Origin": "https://shop.example"}
EXPOSED = (
    "Idempotent-Replayed, Preference-Applied, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, "
    "Retry-After, X-Api-Version, X-Request-Id, X-Unknown-Fields"
)


def cors(response):
    return {name: value for name, value in response.headers.items() if name.startswith("Access-Control")}


def preflight(path, method="POST", **headers):
    asked = ORIGIN | {"Access-Control-Request-Method": method} | headers
    return Client().options(path, headers=asked)


@pytest.mark.parametrize("path", ["carts.json", "carts/abc/lines/1.json", "nowhere.json"])
def test_preflight_is_answered_without_a_key_and_without_the_database(path):
    # Without the database mark, any access to it would fail.
    answer = preflight(f"{STOREFRONT_ROOT}{path}", **{"Access-Control-Request-Headers": "x-storefront-key"})

    assert (answer.status_code, answer.content) == (204, b"")
    assert cors(answer) == {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers": "Content-Type, Idempotency-Key, Prefer, X-Request-Id, X-Storefront-Key",
        "Access-Control-Max-Age": "86400",
    }
    assert "X-Request-Id" in answer


def test_answer_may_be_read_by_any_origin(shop):
    answer = shop.storefront.get("markets.json", origin="https://shop.example")

    assert answer.status_code == 200
    assert cors(answer) == {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": EXPOSED}


def test_answer_to_the_same_origin_says_nothing(shop):
    assert cors(shop.storefront.get("markets.json")) == {}


def test_preflight_and_answer_name_every_header_of_the_surface(shop):
    headers = {"idempotency_key": "a" * 16, "origin": "https://shop.example"}
    body = {"market_id": shop.market.pk}
    answer = shop.storefront.post("carts.json", body, **headers, prefer="handling=strict")
    replayed = shop.storefront.post("carts.json", body, **headers)
    loose = shop.storefront.post("carts.json", body | {"typo": 1}, origin="https://shop.example")

    prefixes = ("X-", "Rate", "Idem", "Pref")
    sent = {*answer.headers, *replayed.headers, *loose.headers}
    own = {name for name in sent if name.startswith(prefixes)}
    assert {"Preference-Applied", "X-Unknown-Fields"} <= own
    assert (answer.status_code, replayed["Idempotent-Replayed"]) == (201, "true")
    assert own - {"X-Content-Type-Options", "X-Frame-Options"} <= set(EXPOSED.split(", "))


def test_refusals_may_be_read_too(shop, settings):
    client = shop.storefront
    without_key = Client().get(f"{STOREFRONT_ROOT}markets.json", headers=ORIGIN)
    unknown = client.get("carts/abc.json", origin="https://shop.example")
    unrouted = Client().get(f"{STOREFRONT_ROOT}nowhere.json", headers=ORIGIN)
    unversioned = Client().get("/storefront/1999-01/markets.json", headers=ORIGIN)
    settings.RATE_LIMIT_PER_KEY = 1
    limited = client.get("markets.json", origin="https://shop.example")

    answers = [without_key, unknown, unrouted, unversioned, limited]
    assert [answer.status_code for answer in answers] == [401, 404, 404, 404, 429]
    assert [answer.get("Access-Control-Allow-Origin") for answer in answers] == ["*"] * 5
    assert "Retry-After" in limited


def test_internal_error_may_be_read_too(shop, monkeypatch):
    monkeypatch.setattr("accounts.api.middleware.authentication.authenticate", lambda *args, **kwargs: 1 // 0)

    answer = shop.storefront.get("markets.json", origin="https://shop.example")

    assert (answer.status_code, cors(answer)["Access-Control-Allow-Origin"]) == (500, "*")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    [f"{ADMIN_ROOT}accounts.json", "/backoffice/login/", "/webhooks/provider", "/healthz", "/openapi.json"],
)
def test_other_addresses_are_for_no_other_origin(path):
    answers = [preflight(path), Client().get(path, headers=ORIGIN)]

    assert [cors(answer) for answer in answers] == [{}, {}]


def test_options_that_is_no_preflight_needs_a_key():
    answer = Client().options(f"{STOREFRONT_ROOT}markets.json", headers=ORIGIN)

    assert (answer.status_code, cors(answer)["Access-Control-Allow-Origin"]) == (401, "*")

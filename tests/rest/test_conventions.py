"""Conventions of every response: ids, versions, methods, media types, problem documents."""

import re

import pytest
from django.db import connection

from config.versions import API_VERSIONS, CURRENT_VERSION
from tests.clients import ADMIN_ROOT, STOREFRONT_ROOT, ApiClient
from tests.problems import field_errors, problem


def test_answer_has_the_request_id_that_was_sent(shop):
    assert shop.admin.get("markets.json", x_request_id="req-1")["X-Request-Id"] == "req-1"


@pytest.mark.parametrize("sent", [None, "", "a b", "x" * 129, "caf\u00e9"])
def test_answer_has_a_request_id_of_its_own_where_none_that_is_usable_was_sent(shop, sent):
    headers = {} if sent is None else {"x_request_id": sent}

    made = shop.admin.get("markets.json", **headers)["X-Request-Id"]

    assert re.fullmatch("[0-9a-f]{32}", made)


def test_problem_has_the_request_id_too(shop):
    response = shop.admin.get("markets/1.json", x_request_id="req-1")

    assert response.json() == {
        "type": "urn:problem:not_found",
        "title": "Not found",
        "status": 404,
        "detail": "Not found",
        "code": "not_found",
        "request_id": "req-1",
    }
    assert response["X-Request-Id"] == "req-1"
    assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "path", ["markets.json", "markets/1.json", "nothing/here.json", "/admin/2020-01/accounts.json"]
)
def test_answer_has_the_api_version(shop, path):
    assert shop.admin.get(path)["X-Api-Version"] == CURRENT_VERSION


def test_answer_without_a_key_has_the_api_version(db):
    response = ApiClient().get(f"{STOREFRONT_ROOT}markets.json")

    assert (response.status_code, response["X-Api-Version"]) == (401, CURRENT_VERSION)
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "path",
    [
        "/admin/2025-01/accounts.json",
        "/admin/v1/shop/markets.json",
        "/storefront/2026-02/carts.json",
        "/storefront/x/",
    ],
)
def test_version_that_does_not_exist_is_not_found(db, path):
    response = ApiClient().get(path)

    assert problem(response) == (404, "unsupported_api_version")
    assert response.json()["supported"] == list(API_VERSIONS)


@pytest.mark.parametrize("path", [f"{ADMIN_ROOT}nothing.json", f"{STOREFRONT_ROOT}nothing", "/nothing"])
def test_address_that_does_not_exist_is_not_found(db, path):
    response = ApiClient().get(path)

    assert problem(response) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "markets.json", "GET, POST"),
        ("DELETE", "markets.json", "GET, POST"),
        ("POST", "markets/1.json", "GET, PUT, DELETE"),
        ("OPTIONS", "markets.json", "GET, POST"),
        ("TRACE", "markets.json", "GET, POST"),
        ("BREW", "markets.json", "GET, POST"),
    ],
)
def test_method_that_is_not_there_is_refused_with_those_that_are(shop, method, path, allowed):
    response = shop.admin.send(method, path)

    assert problem(response) == (405, "method_not_allowed")
    assert set(response["Allow"].split(", ")) - {"HEAD"} == set(allowed.split(", "))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "BREW"])
@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/openapi.json"])
def test_page_of_the_installation_is_only_read(db, path, method):
    response = ApiClient().send(method, path)

    assert problem(response) == (405, "method_not_allowed")
    assert response["Allow"] == "GET, HEAD"


def test_head_answers_as_get_without_a_body(shop):
    response = shop.admin.send("HEAD", "markets.json")

    assert (response.status_code, response.content) == (200, b"")
    assert response["Content-Type"] == "application/json"


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "image/png"])
def test_media_type_that_is_not_there_is_not_acceptable(shop, accept):
    response = shop.admin.get("markets.json", accept=accept)

    assert problem(response) == (406, "not_acceptable")


@pytest.mark.parametrize("accept", ["application/json", "*/*", "application/*", "text/html, */*;q=0.8"])
def test_media_type_that_is_there_is_answered(shop, accept):
    response = shop.admin.get("markets.json", accept=accept)

    assert (response.status_code, response["Content-Type"]) == (200, "application/json")


def test_body_of_exactly_one_mebibyte_is_read(shop):
    start, end = b'{"name": "', b'"}'
    body = start + b"x" * (1024 * 1024 - len(start) - len(end)) + end

    assert shop.admin.post("markets.json", body).json()["code"] == "validation_failed"
    assert shop.admin.post("markets.json", body + b" ").json()["code"] == "body_too_large"


def test_body_with_a_charset_is_read(shop):
    response = shop.admin.post("markets.json", b"{}", content_type="application/json; charset=utf-8")

    assert response.json()["code"] == "validation_failed"


def test_validation_names_every_field_with_a_dotted_path(shop):
    response = shop.admin.post(
        "products.json",
        {"title": "", "variants": [{"sku": "A"}, {"sku": 1, "pricing": [{"price_cents": -1}]}]},
    )

    assert field_errors(response) == {
        ("handle", "required"),
        ("title", "blank"),
        ("variants.1.sku", "invalid"),
        ("variants.1.pricing.0.market_id", "required"),
        ("variants.1.pricing.0.price_cents", "min_value"),
    }


def test_error_nobody_foresaw_is_a_problem_without_a_trace_and_keeps_nothing(shop, monkeypatch):
    def fail(*, fields):
        with connection.cursor() as cursor:
            cursor.execute("UPDATE markets SET name = 'Half done' WHERE account_id = current_account_id()")
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("accounts.operations.create_market", fail)
    body = {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"}

    response = shop.admin.post("markets.json", body)

    assert problem(response) == (500, "internal_error")
    assert b"secret" not in response.content
    assert [market["name"] for market in shop.admin.get("markets.json").json()["markets"]] == ["Germany"]


def test_timestamps_ids_and_cents_leave_in_their_form(shop):
    market = shop.admin.get("markets.json").json()["markets"][0]

    assert market["id"] == str(shop.market.pk)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", market["created_at"])


def test_ids_are_taken_as_the_strings_that_they_left_as(shop):
    body = {
        "handle": "de-zone",
        "name": "Germany",
        "country_codes": ["DE"],
        "market_id": str(shop.market.pk),
    }

    zone = shop.admin.post("shipping/zones.json", body).json()["zone"]

    assert zone["market_id"] == str(shop.market.pk)

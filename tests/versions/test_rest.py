"""A field that was renamed twice: clients of each version send and get its name in that version."""

from dataclasses import replace

import orjson
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Market
from checkouts.models import Checkout
from commerce.rest.models import IdempotencyRecord
from commerce.versions import api_versions, current_version
from config.versions import API_VERSIONS, CURRENT_VERSION
from tests import factories
from tests.clients import ApiClient
from tests.problems import field_errors, problem
from tests.storefront import EMAIL, cart_with
from tests.versions.conftest import VERSIONS, admin, storefront

NEWEST = "2099-07"
# The field name of a market's name.
NAMES = {CURRENT_VERSION: "label", "2099-01": "title", NEWEST: "name"}
AUSTRIA = {"handle": "at", "currency": "EUR", "locale": "de-AT", "country_code": "AT"}
STRICT = "handling=strict"

every_version = pytest.mark.parametrize("version", NAMES)
pytestmark = pytest.mark.usefixtures("more_versions")


def names_in(market):
    return {name: market[name] for name in NAMES.values() if name in market}


def test_the_first_version_of_the_contract_is_served():
    assert next(iter(API_VERSIONS)) == "2026-01"
    assert list(api_versions()) == list(VERSIONS)
    assert current_version().name == NEWEST


def unknown_in(response):
    assert problem(response) == (422, "unknown_field")
    return {error["field"] for error in response.json()["errors"]}


@every_version
def test_request_and_answers_have_the_names_of_their_version(shop, version):
    client, name = admin(shop, version), NAMES[version]

    made = client.post("markets.json", AUSTRIA | {name: "Austria"}, prefer=STRICT)
    market_id = made.json()["market"]["id"]
    changed = client.put(f"markets/{market_id}.json", {name: "Österreich"}, prefer=STRICT)
    listed = client.get("markets.json").json()["markets"]

    assert (made.status_code, made["X-Api-Version"]) == (201, version)
    assert names_in(made.json()["market"]) == {name: "Austria"}
    assert names_in(changed.json()["market"]) == {name: "Österreich"}
    assert [names_in(market) for market in listed] == [{name: "Österreich"}, {name: "Germany"}]
    with shop.scope():
        assert Market.objects.get(pk=market_id).name == "Österreich"


@every_version
def test_names_of_other_versions_are_unknown(shop, version):
    client, name = admin(shop, version), NAMES[version]
    others = {other: "Elsewhere" for other in NAMES.values() if other != name}
    body = AUSTRIA | {name: "Austria"} | others

    refused = client.post("markets.json", body, prefer=STRICT)
    made = client.post("markets.json", body)

    assert unknown_in(refused) == set(others)
    assert set(made["X-Unknown-Fields"].split(", ")) == set(others)
    assert names_in(made.json()["market"]) == {name: "Austria"}


@every_version
def test_names_of_other_versions_alone_set_nothing(shop, version):
    others = {other: "Elsewhere" for other in NAMES.values() if other != NAMES[version]}

    refused = admin(shop, version).post("markets.json", AUSTRIA | others)

    assert field_errors(refused) == {(NAMES[version], "required")}


def test_errors_and_unknown_fields_deep_in_a_body_have_the_names_of_the_version(shop):
    old = admin(shop, CURRENT_VERSION)
    variants = [{"article": "A"}, {"article": 1, "sku": "B"}]

    refused = old.post("products.json", {"title": "Hat", "handle": "hat", "articles": variants})
    unknown = old.post(
        "products.json", {"title": "Hat", "handle": "hat", "articles": variants}, prefer=STRICT
    )
    newest = admin(shop, NEWEST).post(
        "products.json", {"title": "Hat", "handle": "hat", "variants": [{"sku": 1}]}
    )

    assert field_errors(refused) == {("articles.1.article", "invalid")}
    assert refused["X-Unknown-Fields"] == "articles.1.sku"
    assert unknown_in(unknown) == {"articles.1.sku"}
    assert field_errors(newest) == {("variants.0.sku", "invalid")}


def test_change_of_a_type_is_undone_in_nested_objects(shop):
    variant = factories.make_variant(shop)
    old = storefront(shop, CURRENT_VERSION)
    token = cart_with(shop)

    added = old.post(f"carts/{token}/lines.json", {"variant_id": variant.pk, "units": "2"}, prefer=STRICT)
    (newest,) = storefront(shop, NEWEST).get(f"carts/{token}.json").json()["cart"]["line_items"]

    assert added.status_code == 200, added.content
    (line,) = added.json()["cart"]["lines"]
    assert (line["units"], "quantity" in line) == ("2", False)
    assert (newest["quantity"], "units" in newest) == (2, False)


@pytest.mark.parametrize("path", ["markets.json", "orders.json"])
def test_older_versions_take_as_many_statements(shop, path):
    def statements(version):
        with CaptureQueriesContext(connection) as captured:
            assert admin(shop, version).get(path).status_code == 200
        return [query["sql"] for query in captured]

    for version in NAMES:
        statements(version)

    assert len({len(statements(version)) for version in NAMES}) == 1


def test_stored_answer_belongs_to_its_version(shop):
    body = AUSTRIA | {"label": "Austria"}
    old = admin(shop, CURRENT_VERSION)

    first = old.post("markets.json", body, idempotency_key="a")
    again = old.post("markets.json", body, idempotency_key="a", prefer=STRICT)
    other = admin(shop, NEWEST).post("markets.json", body, idempotency_key="a")

    assert (again.json(), again["Idempotent-Replayed"]) == (first.json(), "true")
    assert "X-Unknown-Fields" not in again
    assert problem(other) == (422, "idempotency_key_reused")


@pytest.mark.parametrize(("version", "name"), [(CURRENT_VERSION, "token"), (NEWEST, "secret")])
def test_secret_is_not_stored_under_its_old_name_either(shop, version, name):
    client = admin(shop, version)
    body = {"kind": "storefront", "name": "Shop window"}

    issued = client.post("api_keys.json", body, idempotency_key="a").json()["api_key"]
    again = client.post("api_keys.json", body, idempotency_key="a").json()["api_key"]

    assert issued[name].startswith("pk_")
    assert again == issued | {name: None}
    with shop.scope():
        (record,) = IdempotencyRecord.objects.all()
    assert orjson.loads(bytes(record.body)) == {"api_key": again}


def test_key_of_a_shopper_is_found_by_the_old_name_of_the_secret_field(shop):
    variant = factories.make_variant(shop)
    old = storefront(shop, CURRENT_VERSION)
    of_newest = replace(shop, storefront=storefront(shop, NEWEST))
    carts = [cart_with(of_newest, (variant, 1)) for _ in range(2)]

    answers = [
        old.post("checkouts.json", {"cart": cart, "email": EMAIL}, idempotency_key="1")
        for cart in [*carts, *carts]
    ]

    assert [answer.status_code for answer in answers] == [201] * 4
    assert [answer.get("Idempotent-Replayed") for answer in answers] == [None, None, "true", "true"]
    assert [answer.json() for answer in answers[:2]] == [answer.json() for answer in answers[2:]]
    with shop.scope():
        assert Checkout.objects.count() == 2


@every_version
def test_conventions_hold_in_every_version(shop, settings, version):
    anybody = ApiClient().get(f"/storefront/{version}/markets.json", origin="https://shop.example")
    missing = admin(shop, version).get("markets/1.json")
    unrouted = admin(shop, version).get("nothing.json")
    lacking = ApiClient(f"/admin/{version}/{shop.handle}/", shop.client_with("read_orders").headers)
    limited = admin(shop, version).get("markets.json")

    assert problem(anybody) == (401, "unauthenticated")
    assert anybody["Access-Control-Allow-Origin"] == "*"
    assert problem(missing) == problem(unrouted) == (404, "not_found")
    assert problem(lacking.get("markets.json")) == (403, "insufficient_scope")
    assert {answer["X-Api-Version"] for answer in (anybody, missing, unrouted, limited)} == {version}
    assert "RateLimit-Remaining" in limited


def test_version_that_does_not_exist_names_those_that_do(shop):
    refused = admin(shop, "2099-02").get("markets.json")

    assert problem(refused) == (404, "unsupported_api_version")
    assert refused.json()["supported"] == list(VERSIONS)
    assert refused["X-Api-Version"] == NEWEST


def test_versions_must_be_sorted(settings):
    settings.API_VERSIONS = dict(reversed(VERSIONS.items()))
    api_versions.cache_clear()

    with pytest.raises(ImproperlyConfigured):
        api_versions()


def test_document_of_each_version_is_served(client):
    documents = {version: client.get(f"/openapi/{version}.json").json() for version in VERSIONS}

    assert client.get("/openapi.json").json() == documents[NEWEST]
    for version, document in documents.items():
        schemas, name = document["components"]["schemas"], NAMES[version]
        assert document["info"]["version"] == version
        assert f"/admin/{version}/{{handle}}/markets.json" in document["paths"]
        assert not {path for path in document["paths"] if path.startswith("/admin/") and version not in path}
        for schema in ("MarketOutput", "MarketInputRequest", "PatchedMarketChangesRequest"):
            assert names_in(schemas[schema]["properties"]).keys() == {name}
        assert set(NAMES.values()) & set(schemas["MarketOutput"]["required"]) == {name}
    assert documents[CURRENT_VERSION]["components"]["schemas"]["CartLineOutput"]["properties"]["units"] == {
        "type": "string"
    }


def test_document_of_a_version_that_does_not_exist_is_not_found(client):
    assert problem(client.get("/openapi/2099-02.json")) == (404, "unsupported_api_version")

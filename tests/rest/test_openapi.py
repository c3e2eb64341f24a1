"""The committed document matches the code, so that changes of the contract show in the diff."""

import re

import orjson
import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from hypothesis import given
from hypothesis import strategies as st

from commerce.errors import all_refusals
from commerce.events.types import EventType
from commerce.rest import fields
from config.versions import CURRENT_VERSION
from tests.openapi import codes_of, document, find_errors

# Pages and files for people and probes, not for API clients.
UNDOCUMENTED = (
    "^(?:admin|storefront)/(?P<version>[^/]+)/.*$",
    "",
    "admin/",
    "backoffice",
    "demo",
    "docs/",
    "favicon.ico",
    "healthz",
    "metrics",
    "openapi.json",
    "openapi/<str:name>.json",
    "readyz",
    "static/",
    "test-card/",
)
STATUSES = {refusal.code: refusal.status for refusal in all_refusals()} | {"internal_error": 500}
SALE = [
    "storefront_carts_create",
    "storefront_cart_lines_create",
    "storefront_checkouts_create",
    "storefront_checkouts_set_address",
    "storefront_checkouts_shipping_quote",
    "storefront_checkouts_set_shipping",
    "storefront_checkouts_set_payment_method",
    "storefront_checkouts_start_payment",
    "storefront_checkouts_confirm",
    "storefront_checkouts_complete",
    "storefront_orders_retrieve",
]
UNITS = {
    "_cents": "In cents",
    "_bp": "In basis points",
    "_grams": "In grams.",
    "_seconds": "In seconds.",
    "_ms": "In milliseconds.",
    "country_code": "ISO 3166-1",
    "currency": "ISO 4217",
}
# Of addresses and methods that don't exist, and of the back office.
NOT_OF_OPERATIONS = {
    "already_invited",
    "already_member",
    "forbidden",
    "last_owner",
    "method_not_allowed",
    "order_not_paid",
    "order_still_open",
    "refund_under_way",
    "role_exists",
    "role_in_use",
    "unsupported_api_version",
}
PAGES = ("backoffice/", "demo/", "test-card/", "static/")


def test_committed_document_is_current():
    generated = SchemaGenerator().get_schema(request=None, public=True)

    # `make openapi` rewrites it.
    assert document() == orjson.loads(orjson.dumps(generated))


def test_document_is_valid_and_made_without_warnings():
    GENERATOR_STATS.reset()

    generated = SchemaGenerator().get_schema(request=None, public=True)

    validate_schema(generated)
    assert not GENERATOR_STATS
    assert document()["openapi"] == "3.1.0"


def test_operations_have_ids_of_their_own():
    ids = [operation["operationId"] for operation in operations()]

    assert len(ids) == len(set(ids))
    assert all(operation["security"] for operation in operations())


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("get", "admin/{version}/{handle}/orders/{order_id}.json", "admin_orders_retrieve"),
        ("post", "admin/{version}/{handle}/shipping/zones.json", "admin_shipping_zones_create"),
        ("post", "admin/{version}/{handle}/outbox_dispatches/{dispatch_id}/retry.json", "admin_outbox_dispatches_retry"),
        ("post", "admin/{version}/{handle}/email/send.json", "admin_email_send"),
        ("delete", "admin/{version}/{handle}/discounts/{discount_id}.json", "admin_discounts_delete"),
        ("patch", "storefront/{version}/carts/{token}/lines/{line_id}.json", "storefront_cart_lines_update"),
        ("put", "storefront/{version}/carts/{token}/customer.json", "storefront_carts_set_customer"),
        ("put", "storefront/{version}/checkouts/{token}/vat.json", "storefront_checkouts_set_vat"),
    ],
)  # fmt: skip
def test_id_of_an_operation_names_its_resource_and_action(method, path, name):
    # Generated clients name their functions after it, so a change breaks the code that calls them.
    found = document()["paths"]["/" + path.replace("{version}", CURRENT_VERSION)][method]

    assert found["operationId"] == name


def test_operation_has_summary_description_and_described_tag():
    tags = {tag["name"] for tag in document()["tags"] if tag["description"]}

    for operation in operations():
        name = operation["operationId"]
        assert 8 <= len(operation["summary"]) <= 60, name
        assert not operation["summary"].endswith("."), name
        assert not operation["description"].startswith("Required scope"), name
        assert set(operation["tags"]) <= tags, name


def test_operation_names_each_status_with_its_codes():
    for operation in operations():
        refused = {status for status in operation["responses"] if int(status) >= 400}
        assert {"400", "401", "500", "503"} <= refused, operation["operationId"]
        assert all(codes_of(operation["responses"][status]) for status in refused)


def test_code_is_documented_with_its_status():
    for operation in operations():
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                shown = {STATUSES[code] for code in codes_of(response)}
                assert shown == {int(status)}, operation["operationId"]


def test_field_and_parameter_is_described():
    undescribed = [
        f"{name}.{field}"
        for name, schema in document()["components"]["schemas"].items()
        for field, described in schema.get("properties", {}).items()
        if not described.get("description")
    ]
    undescribed += [
        f"{operation['operationId']}: {parameter['name']}"
        for operation in operations()
        for parameter in operation["parameters"]
        if "$ref" not in parameter and not parameter.get("description")
    ]

    assert undescribed == []


def test_description_of_a_field_tells_its_unit():
    for name, schema in document()["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            unit = next((unit for end, unit in UNITS.items() if field.endswith(end)), "")
            assert unit.lower() in described["description"].lower(), f"{name}.{field}"


def test_request_takes_no_other_fields_than_described():
    for operation in operations():
        for media in operation.get("requestBody", {}).get("content", {}).values():
            name = media["schema"].get("$ref", "").rpartition("/")[2]
            schema = document()["components"]["schemas"][name] if name else media["schema"]
            if operation["tags"] != ["webhooks"]:
                assert schema["additionalProperties"] is False, operation["operationId"]


def test_patch_requires_what_the_validation_requires():
    path = document()["paths"][f"/storefront/{CURRENT_VERSION}/carts/{{token}}/lines/{{line_id}}.json"]

    schema = path["patch"]["requestBody"]["content"]["application/json"]["schema"]

    assert schema == {"$ref": "#/components/schemas/QuantityInputRequest"}
    assert document()["components"]["schemas"]["QuantityInputRequest"]["required"] == ["quantity"]


def test_page_has_the_bounds_of_the_validation():
    path = document()["paths"][f"/admin/{CURRENT_VERSION}/{{handle}}/orders.json"]["get"]

    bounds = {parameter.get("name"): parameter.get("schema") for parameter in path["parameters"]}

    assert bounds["limit"] == {"type": "integer", "minimum": 1, "maximum": 10**18 - 1, "default": 50}
    assert bounds["cursor_id"] == {"type": "integer", "minimum": 1, "maximum": 10**18 - 1}
    assert bounds["customer_id"] == {"type": "integer", "minimum": 1, "maximum": 2**53 - 1}
    assert bounds["status"] == {"type": "string", "enum": ["open", "cancelled", "closed"], "minLength": 1}


@pytest.mark.parametrize(
    "field",
    [fields.HandleField(), fields.TokenField(), fields.LocaleField()],
    ids=repr,
)
@given(data=st.data())
def test_text_of_a_documented_pattern_is_valid(field, data):
    text = data.draw(st.from_regex(re.compile(field.pattern, re.ASCII), fullmatch=True))

    assert field.run_validation(text) == text


def test_link_leads_to_an_operation_with_parameters_that_it_has():
    by_id = {operation["operationId"]: operation for operation in operations()}
    found = [
        (name, link)
        for operation in operations()
        for response in operation["responses"].values()
        for name, link in response.get("links", {}).items()
    ]

    for name, link in found:
        parameters = by_id[link["operationId"]]["parameters"]
        required = {each["name"] for each in parameters if each.get("in") == "path"}
        assert required == set(link["parameters"]), name
    assert len(found) > 60


def test_links_lead_from_a_cart_to_its_order():
    steps = {
        operation["operationId"]: next(iter(operation["responses"].values())) for operation in operations()
    }

    reached = ["storefront_carts_create"]
    for step in SALE[1:]:
        assert step in steps[reached[-1]]["links"], reached[-1]
        reached.append(step)

    assert reached == SALE


def test_example_has_the_documented_form():
    for operation in operations():
        examples = [
            (media["schema"], media["example"])
            for part in (operation.get("requestBody", {}), *operation["responses"].values())
            for media in part.get("content", {}).values()
            if "example" in media
        ]
        assert examples or "204" in operation["responses"], operation["operationId"]
        for schema, example in examples:
            assert find_errors(schema, example) == [], operation["operationId"]


def test_event_is_documented_with_an_example():
    events = document()["webhooks"]

    assert list(events) == EventType.values
    for event in events.values():
        media = event["post"]["requestBody"]["content"]["application/json"]
        assert find_errors(media["schema"], media["example"]) == []


def test_code_of_the_api_is_documented_by_some_operation():
    documented = {
        code
        for operation in operations()
        for status, response in operation["responses"].items()
        if int(status) >= 400
        for code in codes_of(response)
    }

    assert STATUSES.keys() - documented == NOT_OF_OPERATIONS


def test_docs_page_and_document_are_served_without_outside_hosts(client):
    page = client.get("/docs/").content.decode()
    served = client.get("/openapi.json")

    assert orjson.loads(served.content) == document()
    assert "https://" not in page


def test_every_address_that_clients_call_is_documented():
    addresses = {
        re.sub(r"<\w+:(\w+)>", r"{\1}", address)
        for address in addresses_of(get_resolver().url_patterns)
        if address not in UNDOCUMENTED and not address.startswith(PAGES)
    }

    assert {f"/{address}" for address in addresses} == set(document()["paths"])


def operations():
    return [operation for path in document()["paths"].values() for operation in path.values()]


def addresses_of(patterns, prefix=""):
    for pattern in patterns:
        address = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses_of(pattern.url_patterns, address)
        elif isinstance(pattern, URLPattern):
            yield address

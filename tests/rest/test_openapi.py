"""The committed document matches the code, so that changes of the contract show in the diff."""

import re

import orjson
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

from commerce.rest.catalogue import refusals
from tests.openapi import codes_of, document

# Pages and files for people and probes, not for API clients.
UNDOCUMENTED = (
    "^(?:admin|storefront)/(?P<version>[^/]+)/.*$",
    "",
    "admin/",
    "backoffice",
    "demo",
    "docs/",
    "healthz",
    "metrics",
    "openapi.json",
    "openapi/<str:name>.json",
    "readyz",
    "static/",
    "test-card/",
)
STATUSES = {refusal.code: refusal.status for refusal in refusals()} | {"internal_error": 500}
# Of addresses and methods that don't exist, and of the back office.
NOT_OF_OPERATIONS = {
    "already_invited",
    "already_member",
    "forbidden",
    "method_not_allowed",
    "order_not_paid",
    "order_still_open",
    "refund_under_way",
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

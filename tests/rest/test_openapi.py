"""The committed document matches the code, so that changes of the contract show in the diff."""

import re

import orjson
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

from tests.openapi import document

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
    operations = [operation for path in document()["paths"].values() for operation in path.values()]

    ids = [operation["operationId"] for operation in operations]

    assert len(ids) == len(set(ids))
    assert all(operation["security"] for operation in operations)


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


def addresses_of(patterns, prefix=""):
    for pattern in patterns:
        address = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses_of(pattern.url_patterns, address)
        elif isinstance(pattern, URLPattern):
            yield address

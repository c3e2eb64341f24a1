"""Schemathesis makes requests from the API document, valid and invalid; each answer is one that the document describes.

`pytest --hypothesis-profile=long --timeout=0 tests/examples` sends twenty times as many, in about ten minutes.
"""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.clients import ApiClient
from tests.openapi import document
from tests.shops import Shop

# An environment that is older than requirements/dev.txt has none until the next `make`.
schemathesis = pytest.importorskip("schemathesis")
GenerationMode = schemathesis.GenerationMode

# For each operation, of each kind.
EXAMPLES = settings.default.max_examples // 50
# Of what Schemathesis sends, without keys, which the clients have.
HEADERS = ("Content-Type", "Idempotency-Key", "Prefer", "X-Account-Id")
# What changes least comes first.
ORDER = ("get", "post", "put", "patch", "delete")

Operation = Any


def list_operations() -> list[Operation]:
    found = [result.ok() for result in schemathesis.openapi.from_dict(document()).get_all_operations()]
    # Accounts last, as one of these operations archives the shop.
    return sorted(found, key=lambda each: ("/accounts" in each.path, ORDER.index(each.method.lower())))


def choose_client(path: str, shop: Shop) -> ApiClient:
    if path.startswith("/storefront/"):
        return shop.storefront
    return shop.admin if "{handle}" in path else shop.workspace


def send(case: Any, client: ApiClient) -> int:
    """Send a request, and return the status. The client asserts that the document describes the answer."""
    sent = case.as_transport_kwargs(base_url="")
    headers = {name.lower(): sent["headers"][name] for name in HEADERS if name in sent["headers"]}
    body = sent.get("data", b"")
    if "json" in sent:
        body = json.dumps(sent["json"]).encode()
    query = urlencode(sent["params"], doseq=True)
    answer = client.send(case.method, f"{sent['url']}?{query}", body, **headers)
    return answer.status_code


def try_operation(operation: Operation, client: ApiClient, known: dict[str, str]) -> set[int]:
    """Send valid and invalid requests of an operation, and return the statuses. `known` are parameters of things that exist."""
    statuses = set()

    @settings(
        max_examples=EXAMPLES,
        database=None,
        # The same requests each time, except in long searches by hand.
        derandomize=EXAMPLES < 10,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        valid=operation.as_strategy(generation_mode=GenerationMode.POSITIVE),
        invalid=operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
    )
    def send_both(valid: Any, invalid: Any) -> None:
        # Otherwise each request would be for a shop and a thing that don't exist.
        valid.path_parameters = {name: known[name] for name in valid.path_parameters or {}}
        if "handle" in (invalid.path_parameters or {}):
            invalid.path_parameters = invalid.path_parameters | {"handle": known["handle"]}
        statuses.update([send(valid, client), send(invalid, client)])

    send_both()
    return statuses


@pytest.mark.timeout(600)
def test_generated_requests_get_documented_answers(acme, recorded):
    statuses: set[int] = set()

    for operation in list_operations():
        example = recorded.operations[operation.definition.raw["operationId"]][1]
        client = choose_client(operation.path, acme)
        statuses |= try_operation(operation, client, example.get("parameters", {}))

    assert 500 not in statuses
    assert {200, 201, 404, 422} <= statuses

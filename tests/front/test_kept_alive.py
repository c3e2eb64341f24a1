"""After a refusal the connection can be reused, or its end is announced."""

import json

import pytest
from django.conf import settings

from tests.clients import STOREFRONT_ROOT
from tests.front.wire import Wire, ask

REQUESTS = 5_000
JSON = "Content-Type: application/json"
SMALL, LARGE = b'{"a": "' + b"b" * 2_000 + b'"}', b'{"a": "' + b"b" * 100_000 + b'"}'


CONTENT = bytes(number % 251 for number in range(3_000_000))


@pytest.fixture(scope="session")
def product(serve):
    """Django, with a limit of one request a minute for each key."""
    (settings.STATIC_ROOT / "large.js").write_bytes(CONTENT)
    return serve("django", RATE_LIMIT_PER_KEY="1")


@pytest.mark.django_db(transaction=True)
def test_no_refused_post_is_followed_by_a_dropped_connection(product, shop):
    cart = shop.storefront.post("carts.json", {"market_id": shop.market.id}).json()["cart"]["token"]
    key = f"X-Storefront-Key: {shop.issue('storefront')}"
    ask(product, f"GET {STOREFRONT_ROOT}markets.json", key)
    # A few requests a minute get past their limits, and are refused for their content.
    kinds = {
        (401, 429): (f"POST {STOREFRONT_ROOT}carts.json", ["X-Storefront-Key: pk_none"], SMALL),
        (404,): ("POST /nowhere", [], LARGE),
        (405,): ("PUT /webhooks/provider", [], SMALL),
        (413,): (f"POST {STOREFRONT_ROOT}carts.json", [key, "Content-Length: 2000000"], b""),
        (429, 422): (f"POST {STOREFRONT_ROOT}carts/{cart}/lines.json", [key, JSON], LARGE),
    }
    wires = [Wire(product) for _ in range(8)]
    try:
        for number in range(REQUESTS):
            place = number % len(wires)
            statuses, (line, headers, body) = list(kinds.items())[number % len(kinds)]
            length = [f"Content-Length: {len(body)}"] if body else []
            wires[place].send(line, *headers, *length, body=body)
            answer = wires[place].answer()
            assert answer.status in statuses, answer.body
            assert json.loads(answer.body)["status"] == answer.status
            if answer.announces_close:
                wires[place].close()
                wires[place] = Wire(product)
    finally:
        for wire in wires:
            wire.close()


def test_refused_body_is_answered_like_any_other_refusal(product):
    answer = ask(
        product,
        f"POST {STOREFRONT_ROOT}carts.json",
        "Content-Length: 2000000",
        "X-Request-Id: mine",
        "Origin: https://a.example",
    )

    assert answer.status == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json() == {
        "type": "urn:problem:body_too_large",
        "title": "The body is larger than 1 MiB",
        "status": 413,
        "detail": "The body is larger than 1 MiB",
        "code": "body_too_large",
        "request_id": "mine",
    }


def test_static_file_is_sent_whole_and_in_parts(product):
    whole = ask(product, "GET /static/large.js")
    part = ask(product, "GET /static/large.js", "Range: bytes=1000-1999999")
    head = ask(product, "HEAD /static/large.js")

    assert (whole.status, whole.body == CONTENT) == (200, True)
    assert (part.status, part.body == CONTENT[1000:2_000_000]) == (206, True)
    assert (head.status, head.headers["content-length"]) == (200, "3000000")

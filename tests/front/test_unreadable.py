"""Headers with characters that the server doesn't pass on: meaningful ones aren't treated as missing."""

import pytest

from commerce.customers.models import Customer
from tests.clients import ADMIN_ROOT, STOREFRONT_ROOT
from tests.front.wire import Wire, ask

CUSTOMER = b'{"email":"a@example.com"}'


@pytest.fixture(scope="session")
def product(serve):
    return serve("django")


@pytest.fixture
def post(product, shop):
    """Create a customer, with extra headers."""
    key = f"Authorization: Bearer {shop.issue('admin')}"

    def send(*headers):
        line = f"POST {ADMIN_ROOT}{shop.handle}/customers.json"
        return ask(product, line, key, "Content-Type: application/json", *headers, body=CUSTOMER)

    return send


def customers(shop):
    with shop.scope():
        return Customer.objects.count()


@pytest.mark.parametrize(
    ("header", "refusal"),
    [
        ("Idempotency-Key: Zahlung-M\xe4rz-1", (400, "idempotency_key_invalid")),
        ("Prefer: handling=strict; x=\xe4", (400, "malformed_request")),
        ("Content-Encoding: \xff", (415, "unsupported_media_type")),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_header_that_can_not_be_read_refuses_the_request(post, shop, header, refusal):
    answer = post(header)

    assert (answer.status, answer.json()["code"]) == refusal
    assert customers(shop) == 0


@pytest.mark.django_db(transaction=True)
def test_header_without_a_meaning_may_hold_anything(post, shop):
    assert post("CF-IPCity: M\xfcnchen", "User-Agent: \xff", "X-Request-Id: \xff").status == 201
    assert customers(shop) == 1


@pytest.mark.parametrize(
    ("line", "header", "status"),
    [
        ("GET /metrics", "X-Other: \xff", 200),
        ("GET /metrics", "X-Forwarded-For: \xff, 203.0.113.9", 404),
        ("GET /metrics", "Forwarded: for=\xff", 404),
        (f"GET {STOREFRONT_ROOT}markets.json", "X-Storefront-Key: \xff", 401),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_what_comes_through_a_proxy_or_with_an_odd_key_is_seen_to(product, line, header, status):
    assert ask(product, line, header).status == status


@pytest.mark.parametrize("host", ["shop\xff", "\xff"])
def test_host_that_can_not_be_read_is_refused(product, host):
    with Wire(product) as wire:
        wire.send("GET /backoffice/login/", host=host)

        assert wire.answer().status == 400

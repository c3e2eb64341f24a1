"""What a customer has spent: the orders in the account's default currency, never a sum of several."""

import pytest

from accounts.operations import create_market
from commerce.customers.models import Customer
from commerce.customers.queries import list_spending
from commerce.orders.models import Order
from tests import factories
from tests.backoffice.conftest import owner  # noqa: F401  fixture
from tests.storefront import EMAIL, cart_with, checkout_in, take_step


@pytest.fixture
def buyer(shop):
    """A customer with orders of 10.00 and 25.00 euros and 500.00 crowns, and a cancelled one of 10.00 euros."""
    rate = factories.make_rate(shop, price_cents=0)
    cheap, dear = (factories.make_variant(shop, price_cents=price_cents) for price_cents in (1000, 2500))
    for variant in (cheap, dear):
        checkout_in("completed", shop, (variant, 1), rate=rate)
    cancelled = checkout_in("completed", shop, (cheap, 1), rate=rate)
    assert shop.admin.post(f"orders/{cancelled['order_id']}/cancel.json", {}).status_code == 200
    with shop.scope():
        market = create_market(
            fields={"handle": "cz", "name": "CZ", "currency": "CZK", "locale": "cs-CZ", "country_code": "CZ"}
        )
    factories.set_price(shop, cheap, 50_000, market=market, currency="CZK")
    crowns = factories.make_rate(shop, price_cents=0, currency="CZK", method=rate.method)
    body = {"cart_token": cart_with(shop, (cheap, 1), market_id=market.pk), "email": EMAIL}
    token = shop.storefront.post("checkouts.json", body).json()["checkout"]["token"]
    for step in ("address", "shipping", "payment", "processing", "ready", "completed"):
        take_step(step, shop, token, rate=crowns)
    with shop.scope():
        return Customer.objects.get()


def read_spent(shop, customer):
    (listed,) = shop.admin.get("customers.json").json()["customers"]
    shown = shop.admin.get(f"customers/{customer.pk}.json").json()["customer"]
    assert listed == shown
    return shown["total_spent_cents"]


def test_orders_in_other_currencies_do_not_count(shop, buyer):
    assert read_spent(shop, buyer) == "3500"


def test_other_default_currency_counts_its_own_orders(shop, buyer):
    answer = shop.workspace.get(f"accounts/{shop.handle}.json").json()["account"]
    changes = {"default_currency": "CZK", "expected_version": answer["version"]}
    assert shop.workspace.put(f"accounts/{shop.handle}.json", changes).status_code == 200

    assert read_spent(shop, buyer) == "50000"


def test_segment_compares_what_was_spent_in_the_default_currency(shop, buyer):
    variant = factories.make_variant(shop, price_cents=1000)
    codes = {}
    for value in (3500, 3501):
        condition = {"field": "total_spent_cents", "op": "gte", "value": value}
        body = {"handle": f"s{value}", "name": "S", "filter": {"all": [condition]}}
        segment = shop.admin.post("segments.json", body).json()["segment"]
        codes[value] = factories.make_discount(
            shop, code=f"S{value}", customer_eligibility="segments", segment_ids=[int(segment["id"])]
        )
    token = checkout_in("pending", shop, (variant, 1))["token"]
    path = f"checkouts/{token}/discount.json"

    answers = [shop.storefront.post(path, {"code": discount.code}) for discount in codes.values()]

    assert [answer.status_code for answer in answers] == [200, 422]
    assert answers[1].json()["code"] == "customer_not_eligible"


def test_staff_see_the_sum_of_each_currency(shop, buyer, owner):  # noqa: F811  the fixture
    with shop.scope():
        assert list_spending(buyer) == [("CZK", 50_000), ("EUR", 3500)]

    content = owner.get(f"customers/customer/{buyer.pk}/change/").content.decode()

    assert "CZK" in content
    assert "35.00" in content


def test_redacted_customer_has_spent_the_same(shop, buyer):
    redacted = shop.admin.post(f"customers/{buyer.pk}/redact.json", {}).json()["customer"]

    assert (redacted["orders_count"], redacted["total_spent_cents"]) == (3, "3500")


def test_sum_past_64_bits_is_shown_as_the_largest_number(shop, buyer):
    with shop.scope():
        amounts = ("total_cents", "subtotal_with_tax_cents", "amount_due_cents")
        Order.objects.update(**dict.fromkeys(amounts, 2**63 - 1))

    assert read_spent(shop, buyer) == str(2**63 - 1)

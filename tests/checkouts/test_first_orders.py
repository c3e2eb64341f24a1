"""A person gets only one discount for first orders: the first payment that starts holds it."""

import pytest

from discounts.models import Discount, DiscountHold
from tests import factories
from tests.storefront import ADDRESS, EMAIL, cart_with, take_step
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rate(shop):
    return factories.make_rate(shop)


@pytest.fixture
def variant(shop):
    return factories.make_variant(shop, price_cents=2000)


@pytest.fixture
def _codes(shop):
    """Create discounts for first orders in each possible way, all of which can be combined."""
    for code in ("A", "B", "C", "D"):
        factories.make_discount(shop, code=code, stackable=True, first_order_only=True)
    factories.make_discount(shop, code="E", stackable=True, customer_eligibility="first_order")


def ready_to_pay(shop, variant, rate, *codes, email=EMAIL, customer_id=None):
    """Create a checkout in the phase payment."""
    cart_token = cart_with(shop, (variant, 1))
    if customer_id:
        shop.storefront.put(f"carts/{cart_token}/customer.json", {"customer_id": customer_id})
    token = shop.storefront.post("checkouts.json", {"cart_token": cart_token, "email": email}).json()[
        "checkout"
    ]["token"]
    for code in codes:
        answer = shop.storefront.post(f"checkouts/{token}/discount.json", {"code": code})
        assert answer.status_code == 200, answer.content
    shop.storefront.put(
        f"checkouts/{token}/address.json", {"shipping_address": ADDRESS, "same_as_shipping": True}
    )
    for step in ("shipping", "payment"):
        take_step(step, shop, token, rate=rate)
    return token


def start(shop, token):
    return shop.storefront.post(f"checkouts/{token}/start_payment.json", {})


@pytest.mark.usefixtures("_codes")
def test_one_of_many_payments_at_once_holds_it(shop, variant, rate):
    tokens = [ready_to_pay(shop, variant, rate, code, email=EMAIL.upper()) for code in "ABCDE"]

    answers = run_threads(5, lambda index: start(shop, tokens[index]))

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]
    problems = [answer.json() for answer in answers if answer.status_code == 409]
    assert {problem["code"] for problem in problems} == {"discount_exhausted"}
    losers = {"ABCDE"[index] for index, answer in enumerate(answers) if answer.status_code == 409}
    assert {problem["discount_code"] for problem in problems} == losers
    with shop.scope():
        assert DiscountHold.objects.count() == 1
        assert sorted(Discount.objects.values_list("usage_count", flat=True)) == [0, 0, 0, 0, 1]


@pytest.mark.usefixtures("_codes")
def test_one_payment_may_use_several(shop, variant, rate):
    token = ready_to_pay(shop, variant, rate, "A", "B", "E")

    assert start(shop, token).status_code == 200

    with shop.scope():
        assert DiscountHold.objects.count() == 3


@pytest.mark.usefixtures("_codes")
def test_customer_is_known_by_the_address_and_by_the_id(shop, variant, rate):
    """A guest with the customer's email, the customer with another email, and a guest with that one."""
    customer = factories.make_customer(shop, email=EMAIL, normalised_email=EMAIL)
    tokens = [
        ready_to_pay(shop, variant, rate, "A"),
        ready_to_pay(shop, variant, rate, "B", email="other@example.com", customer_id=customer.pk),
        ready_to_pay(shop, variant, rate, "C", email="stranger@example.com"),
    ]

    answers = [start(shop, token) for token in tokens]

    assert [answer.status_code for answer in answers] == [200, 409, 200]


@pytest.mark.usefixtures("_codes")
def test_code_is_refused_while_another_payment_holds_one(shop, variant, rate):
    start(shop, ready_to_pay(shop, variant, rate, "A"))
    cart_token = cart_with(shop, (variant, 1))
    token = shop.storefront.post("checkouts.json", {"cart_token": cart_token, "email": EMAIL}).json()[
        "checkout"
    ]["token"]

    answer = shop.storefront.post(f"checkouts/{token}/discount.json", {"code": "B"})

    assert (answer.status_code, answer.json()["code"]) == (422, "customer_not_eligible")


@pytest.mark.usefixtures("_codes")
def test_payment_that_ends_gives_it_back(shop, variant, rate):
    first = ready_to_pay(shop, variant, rate, "A")
    second = ready_to_pay(shop, variant, rate, "B")
    start(shop, first)
    refused = start(shop, second)
    cart_token = shop.storefront.get(f"checkouts/{first}.json").json()["checkout"]["cart_token"]
    shop.storefront.post("checkouts.json", {"cart_token": cart_token, "email": EMAIL})

    assert (refused.status_code, start(shop, second).status_code) == (409, 200)


@pytest.mark.usefixtures("_codes")
def test_order_that_was_placed_while_the_payment_waited_to_start_is_seen(shop, variant, rate):
    first = ready_to_pay(shop, variant, rate, "A")
    second = ready_to_pay(shop, variant, rate, "B")
    start(shop, first)

    def finish_or_start(index):
        if index:
            return start(shop, second)
        take_step("ready", shop, first, rate=rate)
        return shop.storefront.post(f"checkouts/{first}/complete.json", {}, idempotency_key="first")

    answers = run_threads(2, finish_or_start)

    assert [answer.status_code for answer in answers] == [200, 409]


@pytest.mark.usefixtures("_codes")
def test_discounts_for_everybody_are_held_beside_it(shop, variant, rate):
    factories.make_discount(shop, code="ALL", stackable=True)
    start(shop, ready_to_pay(shop, variant, rate, "A"))

    answer = start(shop, ready_to_pay(shop, variant, rate, "ALL"))

    assert answer.status_code == 200


@pytest.mark.usefixtures("_codes")
def test_other_shops_know_nothing_of_it(shop, other_shop, variant, rate):
    start(shop, ready_to_pay(shop, variant, rate, "A"))
    factories.make_discount(other_shop, code="A", first_order_only=True)
    there = factories.make_variant(other_shop)

    token = ready_to_pay(other_shop, there, factories.make_rate(other_shop), "A")

    assert start(other_shop, token).status_code == 200

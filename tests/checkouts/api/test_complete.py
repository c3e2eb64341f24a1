"""POST checkouts/{token}/complete.json."""

from datetime import timedelta

import pytest
from django.utils import timezone

from checkouts.models import Checkout
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.customers.models import Customer
from commerce.customers.queries import with_spending
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.rest.models import IdempotencyRecord
from discounts.models import DiscountRedemption, VoucherRedemption
from tests import factories
from tests.problems import problem
from tests.storefront import EMAIL, checkout_in, enter_checkout, take_step

# Statements of a completion: SET LOCAL, claim and record of the idempotency key, and the work.
STATEMENTS = 8
# In a test's transaction the scope is a savepoint, whose release clears the setting: three more.
IN_A_TEST = 3


def complete(shop, checkout, key="a"):
    return shop.storefront.post(f"checkouts/{checkout['token']}/complete.json", {}, idempotency_key=key)


def test_same_key_replays_the_answer(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop), 1))

    first, second = complete(shop, checkout), complete(shop, checkout)

    assert (first.status_code, second.status_code) == (200, 200)
    assert second.content == first.content
    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    with shop.scope():
        assert (Order.objects.count(), OutboxDispatch.objects.count()) == (1, 1)


def forget_answers(shop):
    """Delete stored answers, as pruning does a day later."""
    with shop.scope():
        IdempotencyRecord.objects.all().delete()


def test_same_key_finds_the_checkout_for_ever(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop), 1))
    first = complete(shop, checkout)
    cart = shop.storefront.get(f"carts/{checkout['cart_token']}.json").content

    for _ in range(2):
        forget_answers(shop)
        again = complete(shop, checkout)
        assert (again.status_code, again["Idempotent-Replayed"]) == (200, "true")
        assert again.content == first.content

    assert complete(shop, checkout)["Idempotent-Replayed"] == "true"
    assert shop.storefront.get(f"carts/{checkout['cart_token']}.json").content == cart
    with shop.scope():
        assert (Order.objects.count(), OutboxDispatch.objects.count()) == (1, 1)


def test_another_key_is_refused_also_when_the_answers_are_forgotten(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop), 1))
    complete(shop, checkout)
    forget_answers(shop)

    answer = complete(shop, checkout, "b")

    assert problem(answer) == (409, "checkout_already_completed")
    assert complete(shop, checkout).status_code == 200


def test_key_of_another_checkout_is_refused_also_when_the_answers_are_forgotten(shop):
    variant, rate = factories.make_variant(shop), factories.make_rate(shop)
    first, second = (checkout_in("ready", shop, (variant, 1), rate=rate) for _ in range(2))
    complete(shop, first)
    forget_answers(shop)

    answer = complete(shop, second)

    assert problem(answer) == (422, "idempotency_key_reused")
    assert shop.storefront.get(f"checkouts/{second['token']}.json").json()["checkout"] == second
    with shop.scope():
        assert Order.objects.count() == 1


def test_key_of_another_shops_checkout_is_free(shop, other_shop):
    answers = [
        complete(place, checkout_in("ready", place, (factories.make_variant(place), 1)))
        for place in (shop, other_shop)
    ]

    assert [answer.status_code for answer in answers] == [200, 200]


def test_customer_who_comes_back_after_the_sweeper_gets_the_order_and_keeps_the_key(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop), 1))
    with shop.scope():
        Checkout.objects.update(expires_at=timezone.now() - timedelta(hours=1))
    sweep_overdue_checkouts(now=timezone.now())

    first = complete(shop, checkout)
    forget_answers(shop)
    second = complete(shop, checkout)
    other = complete(shop, checkout, "b")

    with shop.scope():
        order = Order.objects.get()
        assert OutboxDispatch.objects.count() == 1
    assert (first.status_code, first.json()["checkout"]["order_id"]) == (200, str(order.pk))
    assert "Idempotent-Replayed" not in first
    assert (second.content, second["Idempotent-Replayed"]) == (first.content, "true")
    assert problem(other) == (409, "checkout_already_completed")


def test_no_body_is_the_empty_object_that_was_sent_before(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop), 1))
    first = complete(shop, checkout)

    second = shop.storefront.post(f"checkouts/{checkout['token']}/complete.json", idempotency_key="a")

    assert second.content == first.content
    assert second["Idempotent-Replayed"] == "true"


def test_another_key_on_a_completed_checkout_is_refused(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop), 1))
    order_id = complete(shop, checkout).json()["checkout"]["order_id"]

    answer = complete(shop, checkout, "b")

    assert (answer.status_code, answer.json()["code"]) == (409, "checkout_already_completed")
    assert answer.json()["order_id"] == order_id
    with shop.scope():
        assert Order.objects.count() == 1


def test_key_of_another_checkout_is_refused(shop):
    variant = factories.make_variant(shop)
    rate = factories.make_rate(shop)
    first, second = (checkout_in("ready", shop, (variant, 1), rate=rate) for _ in range(2))
    complete(shop, first)

    answer = complete(shop, second)

    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert shop.storefront.get(f"checkouts/{second['token']}.json").json()["checkout"] == second


def test_key_is_required(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop), 1))

    answer = shop.storefront.post(f"checkouts/{checkout['token']}/complete.json", {})

    assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key_required")
    with shop.scope():
        assert Order.objects.count() == 0


def test_refused_completion_leaves_its_key_free(shop):
    checkout = checkout_in("processing", shop, (factories.make_variant(shop), 1))

    refused = complete(shop, checkout)
    shop.storefront.post(f"checkouts/{checkout['token']}/confirm.json", {})
    completed = complete(shop, checkout)

    assert (refused.status_code, refused.json()["code"]) == (409, "payment_not_confirmed")
    assert completed.status_code == 200


def test_order_numbers_rise_within_each_account(shop, other_shop):
    numbers = {}
    for place in (shop, other_shop):
        variant, rate = factories.make_variant(place), factories.make_rate(place)
        checkouts = [checkout_in("completed", place, (variant, 1), rate=rate) for _ in range(2)]
        orders = [place.storefront.get(f"orders/{c['order_token']}.json").json()["order"] for c in checkouts]
        numbers[place.handle] = [order["number"] for order in orders]

    assert numbers == {shop.handle: ["1001", "1002"], other_shop.handle: ["1001", "1002"]}


def test_guest_becomes_a_customer_and_is_known_the_next_time(shop):
    variant, rate = factories.make_variant(shop, price_cents=1000), factories.make_rate(shop, price_cents=0)

    first, second = (checkout_in("completed", shop, (variant, 1), rate=rate) for _ in range(2))

    assert first["customer_id"] == second["customer_id"]
    with shop.scope():
        customer = with_spending(Customer.objects.all()).get()
    assert (customer.email, customer.is_guest, customer.first_name) == (EMAIL, True, "Ada")
    assert (customer.orders_count, customer.total_spent_cents) == (2, 2000)


@pytest.mark.parametrize("lines", [1, 50])
def test_completion_takes_a_fixed_number_of_statements(shop, django_assert_max_num_queries, lines):
    variants = [factories.make_variant(shop) for _ in range(lines)]
    checkout = checkout_in("ready", shop, *((variant, 1) for variant in variants))

    with django_assert_max_num_queries(STATEMENTS + IN_A_TEST) as statements:
        answer = complete(shop, checkout)

    assert answer.status_code == 200
    assert len(statements) == STATEMENTS + IN_A_TEST


@pytest.mark.parametrize("lines", [1, 50])
def test_completion_with_discounts_and_gift_cards_takes_at_most_twenty(
    shop, django_assert_max_num_queries, lines
):
    rate = factories.make_rate(shop)
    variants = [factories.make_variant(shop) for _ in range(lines)]
    factories.make_discount(shop, code=None, stackable=True)
    codes = [factories.make_discount(shop, stackable=True, code=f"C{n}").code for n in range(2)]
    codes += [factories.make_voucher(shop, 100).code for _ in range(2)]
    token = enter_checkout(shop, *((variant, 1) for variant in variants))["token"]
    for code in codes:
        shop.storefront.post(f"checkouts/{token}/discount.json", {"code": code})
    for step in ("address", "shipping", "payment", "processing", "ready"):
        checkout = take_step(step, shop, token, rate=rate)

    with django_assert_max_num_queries(20 + IN_A_TEST):
        answer = complete(shop, checkout)

    assert answer.status_code == 200
    with shop.scope():
        assert (
            DiscountRedemption.objects.count(),
            VoucherRedemption.objects.filter(kind="redeem").count(),
        ) == (3, 2)

"""POST carts/{token}/merge.json."""

import time
from threading import Event

import pytest
from django.db import connection
from django.utils import timezone

from carts.models import Cart
from commerce.customers.operations import redact_customer
from tests import factories
from tests.storefront import cart_with
from tests.threads import run_threads


def merge(shop, token, source):
    return shop.storefront.post(f"carts/{token}/merge.json", {"source_cart_token": source})


def quantities(answer):
    return {line["variant_id"]: line["quantity"] for line in answer.json()["cart"]["line_items"]}


def test_lines_move_and_equal_ones_add_up(shop):
    mug, pen = factories.make_variant(shop), factories.make_variant(shop)
    target, source = cart_with(shop, (mug, 1)), cart_with(shop, (mug, 2), (pen, 3))

    answer = merge(shop, target, source)

    assert answer.status_code == 200
    assert quantities(answer) == {str(mug.pk): 3, str(pen.pk): 3}
    emptied = shop.storefront.get(f"carts/{source}.json").json()["cart"]
    assert (emptied["status"], emptied["line_items"]) == ("merged", [])


def test_merge_repeated_answers_the_same(shop):
    mug = factories.make_variant(shop)
    target, source = cart_with(shop, (mug, 1)), cart_with(shop, (mug, 2))

    first, second = merge(shop, target, source), merge(shop, target, source)

    assert second.status_code == 200
    assert quantities(first) == quantities(second) == {str(mug.pk): 3}


@pytest.mark.parametrize("of", ["source", "target"])
def test_redacted_customer_is_not_attached_by_a_merge(shop, of):
    redacted, live = factories.make_customer(shop), factories.make_customer(shop)
    target, source = cart_with(shop), cart_with(shop)
    owners = {source: redacted} if of == "source" else {target: redacted, source: live}
    for token, customer in owners.items():
        shop.storefront.put(f"carts/{token}/customer.json", {"customer_id": customer.pk})
    assert shop.admin.post(f"customers/{redacted.pk}/redact.json", {}).status_code == 200

    answer = shop.storefront.post(f"carts/{target}/merge.json", {"source_cart_token": source})

    assert answer.status_code == 200
    assert answer.json()["cart"]["customer_id"] == (None if of == "source" else str(live.pk))


def wait_for_a_lock():
    """Wait until some transaction waits for another one, at most half a minute."""
    for _ in range(600):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid())"
            )
            if cursor.fetchone()[0]:
                return
        time.sleep(0.05)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attach", ["merge", "create", "change"])
def test_customer_whose_redaction_is_under_way_is_not_attached(shop, attach):
    customer = factories.make_customer(shop)
    target, source = cart_with(shop), cart_with(shop)
    owner = {"customer_id": customer.pk}
    shop.storefront.put(f"carts/{source}/customer.json", owner)
    erased = Event()

    def redact():
        with shop.scope():
            redact_customer(customer_id=customer.pk, now=timezone.now())
            erased.set()
            wait_for_a_lock()

    def attach_customer():
        assert erased.wait(timeout=30)
        if attach == "merge":
            return merge(shop, target, source)
        if attach == "create":
            return shop.storefront.post("carts.json", {"market_id": shop.market.pk} | owner)
        return shop.storefront.put(f"carts/{target}/customer.json", owner)

    redacted, attached = run_threads(2, lambda index: (redact, attach_customer)[index]())

    assert redacted is None
    assert attached.status_code == (200 if attach == "merge" else 422)
    with shop.scope():
        attached_to = Cart.objects.filter(customer=customer).values_list("token", flat=True)
        assert set(attached_to) == {source}


def test_checkout_of_a_cart_whose_customer_was_redacted_is_a_guests(shop):
    customer, mug = factories.make_customer(shop), factories.make_variant(shop)
    token = cart_with(shop, (mug, 1))
    shop.storefront.put(f"carts/{token}/customer.json", {"customer_id": customer.pk})
    shop.admin.post(f"customers/{customer.pk}/redact.json", {})

    answer = shop.storefront.post("checkouts.json", {"cart_token": token, "email": "guest@example.com"})

    assert answer.status_code == 201
    assert answer.json()["checkout"]["customer_id"] is None


def test_target_keeps_its_customer_or_takes_the_sources(shop):
    customer = factories.make_customer(shop)
    target, source = cart_with(shop), cart_with(shop)
    shop.storefront.put(f"carts/{source}/customer.json", {"customer_id": customer.pk})

    answer = merge(shop, target, source)

    assert answer.json()["cart"]["customer_id"] == str(customer.pk)


def test_cart_can_not_be_merged_into_itself(shop):
    mug = factories.make_variant(shop)
    token = cart_with(shop, (mug, 1))

    answer = merge(shop, token, token)

    assert answer.status_code == 422
    assert quantities(shop.storefront.get(f"carts/{token}.json")) == {str(mug.pk): 1}


@pytest.mark.parametrize("is_target", [True, False])
def test_cart_from_before_its_market_changed_the_currency_is_refused(shop, is_target):
    mug = factories.make_variant(shop)
    before = cart_with(shop, (mug, 1))
    assert shop.admin.put(f"markets/{shop.market.pk}.json", {"currency": "CZK"}).status_code == 200
    after = cart_with(shop)

    answer = merge(shop, *((before, after) if is_target else (after, before)))

    assert (answer.status_code, answer.json()["code"]) == (409, "currency_mismatch")
    shown = [shop.storefront.get(f"carts/{token}.json").json()["cart"] for token in (before, after)]
    assert [(cart["status"], cart["currency"], len(cart["line_items"])) for cart in shown] == [
        ("active", "EUR", 1),
        ("active", "CZK", 0),
    ]


def test_cart_of_another_market_is_refused(shop):
    market = shop.admin.post(
        "markets.json",
        {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"},
    ).json()["market"]
    target, source = cart_with(shop), cart_with(shop, market_id=int(market["id"]))

    answer = merge(shop, target, source)

    assert (answer.status_code, answer.json()["code"]) == (409, "merge_market_mismatch")
    with shop.scope():
        assert set(Cart.objects.values_list("status", flat=True)) == {"active"}


def test_unknown_or_foreign_source_is_not_found(shop, other_shop):
    target = cart_with(shop)

    assert merge(shop, target, "nothing").status_code == 404
    assert merge(shop, target, cart_with(other_shop)).status_code == 404


def test_source_merged_elsewhere_is_not_active(shop):
    first, second, source = cart_with(shop), cart_with(shop), cart_with(shop)
    merge(shop, first, source)

    answer = merge(shop, second, source)

    assert (answer.status_code, answer.json()["code"]) == (409, "cart_not_active")


def test_sum_over_the_limit_is_refused_and_nothing_moves(shop):
    mug = factories.make_variant(shop)
    target, source = cart_with(shop, (mug, 9_000)), cart_with(shop, (mug, 1_000))

    answer = merge(shop, target, source)

    assert (answer.status_code, answer.json()["code"]) == (422, "cart_limit_exceeded")
    assert quantities(shop.storefront.get(f"carts/{target}.json")) == {str(mug.pk): 9_000}
    assert quantities(shop.storefront.get(f"carts/{source}.json")) == {str(mug.pk): 1_000}

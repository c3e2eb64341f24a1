"""Guessing codes of discounts and gift cards is slow and locks nobody else out."""

import pytest
import redis

from checkouts.models import Checkout
from commerce.redis import client as redis_client
from discounts.models import VoucherRedemption
from tests import factories
from tests.problems import problem
from tests.servers import closed_port
from tests.storefront import enter_checkout
from tests.threads import run_threads

HERE, THERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture
def variant(shop):
    return factories.make_variant(shop, price_cents=2000)


@pytest.fixture
def checkout(shop, variant):
    return enter_checkout(shop, (variant, 2))


@pytest.fixture(autouse=True)
def _codes(shop):
    factories.make_discount(shop, type="discount_code", code="RIGHT")


def enter(shop, checkout, code, address=HERE):
    client = shop.storefront._client
    client.defaults["REMOTE_ADDR"] = address
    return shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": code})


def codes_of(shop, checkout):
    with shop.scope():
        return [applied.code for applied in Checkout.objects.get(token=checkout["token"]).discount_codes]


def test_thirty_wrong_codes_of_a_checkout_are_enough(shop, variant, checkout):
    wrong = [problem(enter(shop, checkout, f"WRONG{number}")) for number in range(30)]

    refused = enter(shop, checkout, "RIGHT")

    assert wrong == [(422, "discount_not_found")] * 30
    assert problem(refused) == (429, "rate_limited")
    lives = [redis_client().ttl(name) for name in redis_client().scan_iter("wrong-codes:*")]
    assert max(lives) <= int(refused["Retry-After"]) <= 600
    assert codes_of(shop, checkout) == []
    # Another address doesn't matter for the same checkout; another checkout is another shopper.
    assert problem(enter(shop, checkout, "RIGHT", THERE)) == (429, "rate_limited")
    assert enter(shop, enter_checkout(shop, (variant, 1)), "RIGHT").status_code == 200


def test_wrong_codes_of_an_address_count_over_checkouts(shop, other_shop, variant, settings):
    settings.WRONG_CODES_PER_ADDRESS = 4
    checkouts = [enter_checkout(shop, (variant, 1)) for _ in range(5)]
    wrong = [problem(enter(shop, checkout, "WRONG")) for checkout in checkouts[:4]]

    refused = enter(shop, checkouts[4], "RIGHT")

    assert (wrong, problem(refused)) == ([(422, "discount_not_found")] * 4, (429, "rate_limited"))
    assert enter(shop, checkouts[4], "RIGHT", THERE).status_code == 200
    elsewhere = enter_checkout(other_shop, (factories.make_variant(other_shop, price_cents=100), 1))
    assert problem(enter(other_shop, elsewhere, "WRONG")) == (422, "discount_not_found")


def test_right_codes_and_other_refusals_are_no_guesses(shop, checkout, settings):
    settings.WRONG_CODES_PER_CHECKOUT = settings.WRONG_CODES_PER_ADDRESS = 1
    factories.make_discount(shop, type="discount_code", code="OVER", status="disabled")

    tried = [enter(shop, checkout, code) for code in ("RIGHT", "OVER", "RIGHT", "")]
    unknown = enter(shop, {"token": "none"}, "WRONG")

    assert [answer.status_code for answer in tried] == [200, 422, 200, 422]
    assert problem(unknown) == (404, "not_found")
    assert list(redis_client().scan_iter("wrong-codes:*")) == []
    assert problem(enter(shop, checkout, "WRONG")) == (422, "discount_not_found")
    assert problem(enter(shop, checkout, "WRONG")) == (429, "rate_limited")


def test_codes_of_gift_cards_are_guessed_no_faster(shop, checkout, settings):
    settings.WRONG_CODES_PER_CHECKOUT = 1
    card = factories.make_voucher(shop)
    enter(shop, checkout, "ABCD-ABCD-ABCD-ABCD")

    assert problem(enter(shop, checkout, card.code)) == (429, "rate_limited")
    assert codes_of(shop, checkout) == []


def test_redeeming_takes_so_many_wrong_codes_of_a_key(shop, settings):
    settings.WRONG_CODES_PER_KEY = 2
    card = factories.make_voucher(shop, 5000)

    def redeem(client, code, amount_cents=100):
        return client.post("vouchers/redeem.json", {"code": code, "amount_cents": amount_cents})

    answers = [redeem(shop.admin, code) for code in (card.code, "WRONG", "WRONG", card.code)]
    too_much = redeem(shop.client_with(), card.code, 9999)

    assert [answer.status_code for answer in answers] == [200, 404, 404, 429]
    assert problem(too_much) == (422, "insufficient_balance")
    with shop.scope():
        kinds = list(VoucherRedemption.objects.order_by("pk").values_list("kind", "amount_cents"))
    assert kinds == [("issue", 5000), ("redeem", -100)]


def test_zero_is_no_limit(shop, checkout, settings):
    settings.WRONG_CODES_PER_CHECKOUT = settings.WRONG_CODES_PER_ADDRESS = 0

    assert {enter(shop, checkout, "WRONG").status_code for _ in range(40)} == {422}


def test_guesses_are_not_limited_without_redis(shop, checkout, settings, monkeypatch, caplog):
    settings.WRONG_CODES_PER_CHECKOUT = 1
    unreachable = redis.Redis(host="127.0.0.1", port=closed_port(), retry=None)
    monkeypatch.setattr("commerce.attempts.client", lambda: unreachable)

    assert [enter(shop, checkout, code).status_code for code in ("WRONG", "WRONG", "RIGHT")] == [
        422,
        422,
        200,
    ]
    assert "Attempts are not limited" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_guesses_at_once_are_all_counted(shop, variant, settings):
    settings.WRONG_CODES_PER_CHECKOUT = 5
    checkout = enter_checkout(shop, (variant, 1))

    statuses = run_threads(12, lambda _: enter(shop, checkout, "WRONG").status_code)

    assert sorted(statuses) == [422] * 5 + [429] * 7

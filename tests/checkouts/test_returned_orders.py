"""An order whose goods were returned: marked as refunded, it returns to gift cards what they paid."""

import pytest
from django.utils import timezone

from commerce.orders.models import Order
from commerce.orders.operations import mark_order_refunded
from discounts.models import Discount, Voucher, VoucherRedemption
from tests import factories
from tests.backoffice.clients import make_staff
from tests.checkouts.reconciliation.command import reconcile
from tests.problems import problem
from tests.storefront import enter_checkout, take_step

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def card(shop):
    return factories.make_voucher(shop, 1000)


@pytest.fixture
def order_id(shop, card):
    """A fulfilled order of 28.00 with a discount of 10 %, of which gift cards paid 10.00."""
    factories.make_discount(shop, code="TEN", type="discount_code", value_amount=1000)
    rate = factories.make_rate(shop, price_cents=1000, method=factories.make_method(shop, cod_fee_cents=0))
    token = enter_checkout(shop, (factories.make_variant(shop, price_cents=2000, stock=5), 1))["token"]
    for code in ("TEN", card.code):
        answer = shop.storefront.post(f"checkouts/{token}/discount.json", {"code": code})
        assert answer.status_code == 200, answer.content
    for step in ("address", "shipping", "payment", "processing", "ready", "completed"):
        shown = take_step(step, shop, token, rate=rate)
    assert shown["totals"]["gift_card_cents"] == "1000"
    for step in ("mark_paid", "fulfill"):
        answer = shop.admin.post(f"orders/{shown['order_id']}/{step}.json", {})
    assert answer.json()["order"]["status"] == "closed"
    return int(shown["order_id"])


def ledger(shop):
    with shop.scope():
        entries = VoucherRedemption.objects.exclude(kind="issue").order_by("pk")
        return list(entries.values_list("kind", "amount_cents", "balance_after_cents", "order_id", "actor"))


def test_marking_a_closed_order_as_refunded_returns_what_gift_cards_paid_once(shop, card, order_id):
    staff = make_staff(shop)
    taken = ("redeem", -1000, 0, order_id)

    for _ in range(2):
        staff.confirm(f"orders/order/{order_id}/mark_refunded/")

    paid, returned = ledger(shop)
    assert paid[:-1] == taken
    assert returned == ("reversal", 1000, 1000, order_id, f"staff:{staff.user.username}")
    with shop.scope():
        assert Order.objects.get().payment_status == "refunded"
        assert Voucher.objects.values_list("balance_cents", "status").get() == (1000, "active")
        # The discount was used.
        assert Discount.objects.get().usage_count == 1
    assert reconcile(shop) == []


def test_order_that_an_earlier_release_marked_is_found_and_returns_the_amount_when_marked_again(
    shop, card, order_id
):
    with shop.scope():
        Order.objects.update(payment_status="refunded", refunded_at=timezone.now())
    assert reconcile(shop) == [
        f"order {order_id} is refunded: gift card {card.pk} paid 1000 for it and got 0 back"
    ]

    with shop.scope():
        mark_order_refunded(order_id=order_id, now=timezone.now())

    assert [entry[:3] for entry in ledger(shop)] == [("redeem", -1000, 0), ("reversal", 1000, 1000)]
    assert reconcile(shop) == []


def test_gift_card_pays_nothing_more_for_a_refunded_order(shop, card, order_id):
    with shop.scope():
        mark_order_refunded(order_id=order_id, now=timezone.now())

    answer = shop.admin.post(
        "vouchers/redeem.json", {"code": card.code, "amount_cents": 100, "order_id": order_id}
    )

    assert problem(answer) == (409, "order_not_open")
    with shop.scope():
        assert Voucher.objects.get().balance_cents == 1000
    assert reconcile(shop) == []


def test_order_that_is_not_refunded_returns_nothing(shop, card, order_id):
    with shop.scope():
        Order.objects.update(payment_status="pending", paid_at=None, status="open")

    staff = make_staff(shop)
    staff.confirm(f"orders/order/{order_id}/mark_refunded/")

    page = staff.get(f"orders/order/{order_id}/change/").content.decode()
    assert "The order has not been paid." in page
    assert [entry[0] for entry in ledger(shop)] == ["redeem"]
    with shop.scope():
        assert Voucher.objects.get().balance_cents == 0
        assert Order.objects.get().payment_status == "pending"

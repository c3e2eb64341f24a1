"""Actions on several rows: a preview of what they would do, then each row on its own."""

import pytest
from django.utils import timezone

from commerce.backoffice.models import StaffAction
from commerce.catalog.models import Product, Variant
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.orders.operations import cancel_order, fulfill_order
from commerce.outbox.models import OutboxDispatch
from discounts.models import Discount, Voucher
from tests import factories
from tests.storefront import checkout_in

ORDERS = "orders/order/"
PRODUCTS = "catalog/product/"
DISCOUNTS = "discounts/discount/"


def names(answer, part):
    return [(outcome.name, outcome.reason) for outcome in answer.context[part]]


@pytest.fixture
def orders(shop):
    """Three orders: to be fulfilled, fulfilled and cancelled."""
    variant = factories.make_variant(shop, stock=9)
    ids = [checkout_in("completed", shop, (variant, 1))["order_id"] for _ in range(3)]
    with shop.scope():
        rows = list(Order.objects.filter(pk__in=ids).order_by("pk"))
        fulfill_order(order_id=rows[1].pk, now=timezone.now())
    with shop.scope():
        cancel_order(order_id=rows[2].pk, actor="test", now=timezone.now())
    return rows


def snapshot(shop):
    """Return all that fulfilling and cancelling orders change."""
    with shop.scope():
        return (
            list(Order.objects.order_by("pk").values_list("status", "fulfillment_status", "updated_at")),
            list(InventoryLevel.objects.order_by("pk").values_list("on_hand", "committed", "updated_at")),
            OutboxDispatch.objects.count(),
            StaffAction.objects.count(),
        )


@pytest.mark.parametrize(
    ("action", "accepted", "reasons"),
    [
        ("fulfil", 1, ["Nothing to do.", "The order is cancelled."]),
        ("cancel", 1, ["A fulfilled order can't be cancelled.", "Nothing to do."]),
    ],
)
def test_preview_tells_what_will_happen_and_changes_nothing(shop, owner, orders, action, accepted, reasons):
    before = snapshot(shop)

    page = owner.act(ORDERS, action, *(order.pk for order in orders))

    assert names(page, "accepted") == [(str(orders[0]), "")]
    assert [reason for _, reason in names(page, "refused")] == reasons
    assert page.context["accepted"][0].detail == "€14.90 · Pending"
    assert len(page.context["accepted"]) == accepted
    assert snapshot(shop) == before


def test_refused_order_does_not_stop_the_others(shop, owner, orders):
    last = checkout_in("completed", shop, (factories.make_variant(shop), 1))["order_id"]
    ids = [*(order.pk for order in orders), int(last)]

    answer = owner.act_on_all(ORDERS, "fulfil", *ids, carrier="DHL")

    assert [row.row_id for row in answer.context["accepted"]] == [ids[0], ids[3]]
    assert [row.row_id for row in answer.context["refused"]] == [ids[1], ids[2]]
    with shop.scope():
        shipped = Order.objects.filter(fulfillment_status="fulfilled").order_by("pk")
        assert list(shipped.values_list("pk", "carrier")) == [
            (ids[0], "DHL"),
            (ids[1], None),
            (ids[3], "DHL"),
        ]
        logged = StaffAction.objects.order_by("pk").values_list("subject_id", "summary")
        assert list(logged) == [(ids[0], "fulfilled"), (ids[3], "fulfilled")]


def test_orders_are_cancelled_with_a_reason(shop, owner, orders):
    answer = owner.act_on_all(ORDERS, "cancel", orders[0].pk, reason="Out of stock")

    assert names(answer, "accepted") == [(str(orders[0]), "")]
    with shop.scope():
        cancelled = Order.objects.get(pk=orders[0].pk)
    assert (cancelled.status, cancelled.cancel_reason) == ("cancelled", "Out of stock")


def test_reason_that_is_too_long_is_a_form_error_and_cancels_nothing(shop, owner, orders):
    answer = owner.act_on_all(ORDERS, "cancel", orders[0].pk, reason="x" * 1001)

    assert list(answer.context["form"].errors) == ["reason"]
    with shop.scope():
        assert Order.objects.get(pk=orders[0].pk).status == "open"


def test_products_are_archived_and_activated_again(shop, owner):
    mug, cup = factories.make_variant(shop), factories.make_variant(shop)
    ids = [mug.product_id, cup.product_id]

    archived = owner.act_on_all(PRODUCTS, "archive", *ids)
    again = owner.act_on_all(PRODUCTS, "archive", *ids)
    with shop.scope():
        between = [variant.archived_at is not None for variant in Variant.objects.all()]
    owner.act_on_all(PRODUCTS, "activate", mug.product_id)

    assert len(archived.context["accepted"]) == 2
    assert [row.reason for row in again.context["refused"]] == ["Nothing to do."] * 2
    assert between == [True, True]
    with shop.scope():
        assert dict(Product.objects.values_list("pk", "status")) == {ids[0]: "active", ids[1]: "archived"}
        assert [row.pk for row in Variant.objects.filter(archived_at=None)] == [mug.pk]


def test_discounts_are_disabled_and_enabled(shop, owner):
    one, other = factories.make_discount(shop, code="ONE"), factories.make_discount(shop, code="TWO")

    owner.act_on_all(DISCOUNTS, "disable", one.pk, other.pk)
    owner.act_on_all(DISCOUNTS, "enable", one.pk)

    with shop.scope():
        assert dict(Discount.objects.values_list("code", "status")) == {"ONE": "active", "TWO": "disabled"}


def test_gift_cards_are_disabled(shop, owner):
    card, kept = factories.make_voucher(shop), factories.make_voucher(shop)

    page = owner.act("discounts/voucher/", "disable", card.pk)
    owner.act_on_all("discounts/voucher/", "disable", card.pk)

    assert page.context["accepted"][0].detail.startswith("€")
    with shop.scope():
        assert dict(Voucher.objects.values_list("pk", "status")) == {card.pk: "disabled", kept.pk: "active"}


@pytest.fixture
def gift(shop):
    """The discount of a gift card."""
    return factories.make_discount(shop, type="gift_card", code="GIFT", voucher=factories.make_voucher(shop))


def test_archived_discount_of_a_gift_card_ends_the_card(shop, owner, gift):
    page = owner.act(DISCOUNTS, "archive", gift.pk)
    with shop.scope():
        before = Voucher.objects.get().status
    owner.act_on_all(DISCOUNTS, "archive", gift.pk)

    assert names(page, "accepted") == [(str(gift), "")]
    assert before == "active"
    with shop.scope():
        assert (Discount.objects.get().status, Voucher.objects.get().status) == ("archived", "disabled")


@pytest.mark.parametrize("action", ["archive", "disable"])
def test_discounts_of_gift_cards_are_left_to_members_who_may_change_gift_cards(
    shop, client_with, gift, action
):
    plain = factories.make_discount(shop, code="PLAIN")
    reader = client_with("write_discounts", "read_vouchers")
    stranger = client_with("write_discounts")

    preview = reader.act(DISCOUNTS, action, gift.pk, plain.pk)
    result = reader.act_on_all(DISCOUNTS, action, gift.pk)
    hidden = stranger.act_on_all(DISCOUNTS, action, gift.pk)

    refused = [(str(gift), "Your role in this shop doesn't allow to change gift cards.")]
    assert names(preview, "accepted") == [(str(plain), "")]
    assert names(preview, "refused") == names(result, "refused") == refused
    assert names(hidden, "refused") == [(f"#{gift.pk}", "Not found")]
    with shop.scope():
        assert Discount.objects.get(pk=gift.pk).status == "active"
        assert Voucher.objects.get().status == "active"


def test_rows_of_another_shop_are_left_alone(shop, other_shop, owner):
    foreign = factories.make_product(other_shop)

    answer = owner.act_on_all(PRODUCTS, "archive", foreign.pk)

    assert [row.name for row in answer.context["refused"]] == [f"#{foreign.pk}"]
    assert answer.context["accepted"] == []
    with other_shop.scope():
        assert Product.objects.get().status == "active"


def test_support_can_neither_open_nor_confirm_an_action(shop, support):
    product = factories.make_product(shop)

    support.act(PRODUCTS, "archive", product.pk)
    answer = support.act_on_all(PRODUCTS, "archive", product.pk)

    assert answer.status_code == 403
    with shop.scope():
        assert Product.objects.get().status == "active"


@pytest.mark.parametrize("ids", ["", "x", "1,,x", "9" * 30])
def test_texts_that_are_no_ids_are_left_out(owner, ids):
    answer = owner.post(f"{PRODUCTS}bulk/archive/", {"ids": ids})

    assert (answer.status_code, answer.context["accepted"]) == (200, [])


def test_too_many_rows_are_refused(owner):
    answer = owner.act_on_all(PRODUCTS, "archive", *range(1, 202))

    assert answer.status_code == 422
    assert "Select at most 200 rows." in answer.text


@pytest.mark.parametrize("selected", ["x", "9" * 5000, "\0"])
def test_selection_of_no_ids_is_refused(owner, orders, selected):
    answer = owner.post(ORDERS, {"action": "cancel", "_selected_action": selected, "index": 0})

    assert answer.status_code == 302
    assert "Select valid choices." in owner.get(ORDERS).content.decode()

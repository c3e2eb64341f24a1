import pytest

from discounts.models import Discount, Voucher, VoucherRedemption
from tests import factories
from tests.backoffice.discounts import ADD, BOGO, CODE, add_discount, change_path, errors_of, only_row
from tests.storefront import enter_checkout

BULK = {
    "title": "By the dozen",
    "type": "bulk_pricing",
    "bulk_tiers_0": "order",
    "bulk_tiers_1": 12,
    "bulk_tiers_2": "percentage",
    "bulk_tiers_3": "5",
    "bulk_tiers_4": 24,
    "bulk_tiers_5": "free",
}


def test_discount_is_added(shop, owner):
    product = factories.make_product(shop)

    owner.fill(ADD, **CODE, product_ids=str(product.pk), customer_tags="vip")

    discount = only_row(shop)
    assert (discount.code, discount.value_amount, discount.status) == ("WELCOME", 1000, "active")
    assert (discount.product_ids, discount.customer_tags) == ([product.pk], ["vip"])


def test_every_type_is_offered(owner):
    page = owner.get(ADD)

    offered = [value for value, _ in page.context["adminform"].form.fields["type"].choices]
    assert offered == [
        "discount_code",
        "automatic_discount",
        "gift_card",
        "buy_x_get_y",
        "bulk_pricing",
        "shipping_discount",
    ]


def test_gift_card_is_issued_changed_and_archived(shop, owner):
    owner.fill(ADD, title="Christmas", type="gift_card", value_amount="25.00", currency="EUR")
    discount = only_row(shop)
    with shop.scope():
        voucher = Voucher.objects.get()
        entry = VoucherRedemption.objects.get()

    owner.fill(change_path(discount), title="Easter")
    refused = owner.fill(change_path(discount), value_amount="99.00")
    owner.act_on_all("discounts/discount/", "archive", discount.pk)

    assert (discount.voucher_id, discount.code, discount.value_mode) == (
        voucher.pk,
        voucher.code,
        "fixed_amount",
    )
    assert (voucher.balance_cents, voucher.currency, entry.actor[:6]) == (2500, "EUR", "staff:")
    assert errors_of(refused).keys() == {"value_amount"}
    changed = only_row(shop)
    assert (changed.title, changed.value_amount, changed.status) == ("Easter", 2500, "archived")
    with shop.scope():
        assert Voucher.objects.get().status == "disabled"


def test_code_that_is_entered_can_not_be_taken_away(shop, owner):
    discount = add_discount(shop, type="shipping_discount", applies_to="shipping")
    checkout = enter_checkout(shop, (factories.make_variant(shop), 1))
    shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": "WELCOME"})

    answer = owner.fill(change_path(discount), code="")

    assert errors_of(answer)["__all__"] == ["The discount's code is entered in open checkouts"]
    assert only_row(shop).code == "WELCOME"


def test_buy_x_get_y_is_added_by_its_inputs(shop, owner):
    products = [factories.make_product(shop).pk for _ in range(2)]
    variant = factories.make_variant(shop)

    owner.fill(ADD, **BOGO, bogo_config_1="{}, {}".format(*products), bogo_config_5=str(variant.pk))

    assert only_row(shop).bogo_config == {
        "buy": {"quantity": 2, "product_ids": products, "variant_ids": []},
        "get": {"quantity": 1, "product_ids": [], "variant_ids": [variant.pk]},
        "value_mode": "percentage",
        "value_amount": 5000,
        "max_applications": None,
    }


def test_bulk_pricing_is_added_by_its_inputs(shop, owner):
    owner.fill(ADD, **BULK)

    assert only_row(shop).bulk_tiers == {
        "scope": "order",
        "tiers": [
            {"min_quantity": 12, "value_mode": "percentage", "value_amount": 500},
            {"min_quantity": 24, "value_mode": "free", "value_amount": None},
        ],
    }


def test_shipping_discount_applies_to_shipping(shop, owner):
    owner.fill(ADD, title="Free shipping", type="shipping_discount", value_mode="free", applies_to="order")

    assert only_row(shop).applies_to == "shipping"


def test_what_was_filled_in_for_another_type_is_left_out(shop, owner):
    owner.fill(ADD, **BULK | BOGO | CODE, bogo_config_1="x")

    discount = only_row(shop)
    assert (discount.code, discount.bogo_config, discount.bulk_tiers) == ("WELCOME", None, None)


@pytest.mark.parametrize("fields", [BOGO, BULK])
def test_form_sent_back_as_it_was_changes_nothing(shop, owner, fields):
    owner.fill(ADD, **fields)
    before = only_row(shop)

    answer = owner.fill(change_path(before))

    assert answer.status_code == 302
    assert only_row(shop).updated_at == before.updated_at


def test_mechanics_are_changed(shop, owner):
    owner.fill(ADD, **BULK)

    owner.fill(change_path(only_row(shop)), bulk_tiers_1=10, bulk_tiers_4=None, bulk_tiers_5=None)

    assert only_row(shop).bulk_tiers["tiers"] == [
        {"min_quantity": 10, "value_mode": "percentage", "value_amount": 500}
    ]


def test_taken_code_is_a_form_error_in_any_case(shop, owner):
    add_discount(shop)

    answer = owner.fill(ADD, **CODE | {"code": "welcome"})

    assert errors_of(answer) == {"__all__": ["Another live discount or a gift card has this code"]}
    assert only_row(shop).code == "WELCOME"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        (CODE | {"code": ""}, "code"),
        (CODE | {"code": "A B"}, "code"),
        (CODE | {"type": "automatic_discount"}, "code"),
        (CODE | {"value_mode": ""}, "value_mode"),
        (CODE | {"value_mode": "fixed_amount"}, "currency"),
        (CODE | {"value_mode": "fixed_amount", "currency": "XXX"}, "currency"),
        (CODE | {"value_amount": "100.01"}, "value_amount"),
        (CODE | {"value_amount": -1}, "value_amount"),
        (CODE | {"value_amount": ""}, "value_amount"),
        (CODE | {"minimum_order_subtotal_cents": -1}, "minimum_order_subtotal_cents"),
        (CODE | {"type": "gift_card", "currency": "EUR"}, "code"),
        (CODE | {"status": "archived"}, "status"),
        (CODE | {"customer_eligibility": "tagged"}, "customer_tags"),
        (CODE | {"market_ids": "1,x"}, "market_ids"),
        (CODE | {"market_ids": "999999"}, "market_ids"),
        (CODE | {"usage_limit_total": 2**31}, "usage_limit_total"),
        (BOGO | {"bogo_config_0": ""}, "bogo_config"),
        (BOGO | {"bogo_config_0": 0}, "bogo_config"),
        (BOGO | {"bogo_config_1": "999999"}, "bogo_config"),
        (BOGO | {"bogo_config_1": "x"}, "bogo_config"),
        (BOGO | {"bogo_config_6": "fixed_amount"}, "currency"),
        ({"title": "T", "type": "buy_x_get_y"}, "bogo_config"),
        (BULK | {"bulk_tiers_4": 12}, "bulk_tiers"),
        (BULK | {"bulk_tiers_3": ""}, "bulk_tiers"),
        (BULK | {"bulk_tiers_3": 2**70}, "bulk_tiers"),
        ({"title": "T", "type": "bulk_pricing"}, "bulk_tiers"),
    ],
)
def test_discount_that_makes_no_sense_is_a_form_error(shop, owner, fields, field):
    answer = owner.fill(ADD, **fields)

    assert list(errors_of(answer)) == [field]
    with shop.scope():
        assert not Discount.objects.exists()


def test_part_of_the_mechanics_that_makes_no_sense_is_named(owner):
    answer = owner.fill(ADD, **BOGO | {"bogo_config_0": 10_000})

    assert errors_of(answer) == {"bogo_config": ["buy.quantity: Must be at most 9999."]}


def test_discount_that_ends_before_it_starts_is_a_form_error(shop, owner):
    window = {
        "starts_at_0": "2026-02-01",
        "starts_at_1": "00:00",
        "ends_at_0": "2026-01-01",
        "ends_at_1": "00:00",
    }

    answer = owner.fill(ADD, **CODE | window)

    assert errors_of(answer) == {"ends_at": ["Must be after starts_at."]}
    with shop.scope():
        assert not Discount.objects.exists()


def test_discount_is_changed_but_keeps_its_type(shop, owner):
    discount = add_discount(shop)

    owner.fill(change_path(discount), title="Hello", type="automatic_discount")

    row = only_row(shop)
    assert (row.title, row.type) == ("Hello", "discount_code")


def test_emptied_field_goes_back_to_its_default(shop, owner):
    discount = add_discount(shop, usage_limit_total=1, customer_tags=["vip"])

    owner.fill(change_path(discount), usage_limit_total="", customer_tags="")

    row = only_row(shop)
    assert (row.usage_limit_total, row.customer_tags) == (None, [])


def test_archived_discount_frees_its_code_and_is_no_longer_changed(shop, owner):
    discount = add_discount(shop)

    owner.act_on_all("discounts/discount/", "archive", discount.pk)
    added = owner.fill(ADD, **CODE)
    changed = owner.post(change_path(discount), {"title": "Again"})

    assert (added.status_code, changed.status_code) == (302, 409)
    with shop.scope():
        assert [row.status for row in Discount.objects.order_by("pk")] == ["archived", "active"]


def test_support_reads_discounts_and_changes_none(shop, support):
    discount = add_discount(shop)

    shown = support.get(change_path(discount))
    refused = [
        support.post(ADD, CODE | {"code": "NEW"}),
        support.post(change_path(discount), {"title": "Changed"}),
    ]
    support.act_on_all("discounts/discount/", "archive", discount.pk)

    assert shown.status_code == 200
    assert [answer.status_code for answer in refused] == [403, 403]
    row = only_row(shop)
    assert (row.title, row.status) == ("Welcome", "active")


def test_page_shows_everything_where_it_can_not_be_edited(shop, support):
    discount = add_discount(shop)

    page = support.get(change_path(discount))

    # Without inputs, the page has no variables; its conditions must cope with that.
    assert "x-data='{}'" in page.content.decode()
    assert page.content.decode().count("typeof type === &#x27;undefined&#x27; ||") == 3


def test_list_shows_what_the_status_comes_to(shop, owner):
    add_discount(shop, usage_limit_total=1, usage_count=1)

    page = owner.get("discounts/discount/")

    assert "Exhausted" in page.content.decode()

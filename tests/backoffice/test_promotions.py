import pytest

from commerce.backoffice.models import StaffAction
from commerce.events.models import Event
from discounts.models import Discount, Voucher, VoucherRedemption
from tests import factories

ADD = "discounts/discount/add/"
CODE = {
    "title": "Welcome",
    "type": "discount_code",
    "code": "WELCOME",
    "value_mode": "percentage",
    "value_amount": 1000,
}


def errors_of(answer):
    return answer.context["adminform"].form.errors


def add_discount(shop, **fields):
    with shop.scope():
        return Discount.objects.create(**CODE | fields)


def test_discount_is_added(shop, owner):
    product = factories.make_product(shop)

    owner.fill(ADD, **CODE, product_ids=str(product.pk), customer_tags="vip")

    with shop.scope():
        discount = Discount.objects.get()
    assert (discount.code, discount.value_amount, discount.status) == ("WELCOME", 1000, "active")
    assert (discount.product_ids, discount.customer_tags) == ([product.pk], ["vip"])


def test_taken_code_is_a_form_error_in_any_case(shop, owner):
    add_discount(shop)

    answer = owner.fill(ADD, **CODE | {"code": "welcome"})

    assert errors_of(answer) == {"__all__": ["Another live discount has this code"]}
    with shop.scope():
        assert Discount.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"code": ""}, "code"),
        ({"value_mode": "fixed_amount"}, "currency"),
        ({"value_mode": "fixed_amount", "currency": "XXX"}, "currency"),
        ({"value_amount": 10_001}, "__all__"),
        ({"value_amount": -1}, "value_amount"),
        ({"minimum_order_subtotal_cents": -1}, "minimum_order_subtotal_cents"),
        ({"type": "gift_card"}, "type"),
        ({"market_ids": "1,x"}, "market_ids"),
        ({"market_ids": "999999"}, "market_ids"),
        ({"usage_limit_total": 2**31}, "usage_limit_total"),
    ],
)
def test_discount_that_makes_no_sense_is_a_form_error(shop, owner, changes, field):
    answer = owner.fill(ADD, **CODE | changes)

    assert list(errors_of(answer)) == [field]
    with shop.scope():
        assert not Discount.objects.exists()


def test_discount_that_ends_before_it_starts_is_a_form_error(shop, owner):
    window = {
        "starts_at_0": "2026-02-01",
        "starts_at_1": "00:00",
        "ends_at_0": "2026-01-01",
        "ends_at_1": "00:00",
    }

    answer = owner.fill(ADD, **CODE | window)

    assert list(errors_of(answer)) == ["__all__"]
    with shop.scope():
        assert not Discount.objects.exists()


def test_discount_is_changed_but_keeps_its_type(shop, owner):
    discount = add_discount(shop)

    owner.fill(f"discounts/discount/{discount.pk}/change/", title="Hello", type="automatic_discount")

    with shop.scope():
        discount.refresh_from_db()
    assert (discount.title, discount.type) == ("Hello", "discount_code")


def test_archived_discount_frees_its_code_and_is_no_longer_changed(shop, owner):
    discount = add_discount(shop)

    owner.act("discounts/discount/", "archive", discount.pk)
    added = owner.fill(ADD, **CODE)
    changed = owner.post(f"discounts/discount/{discount.pk}/change/", {"title": "Again"})

    assert (added.status_code, changed.status_code) == (302, 403)
    with shop.scope():
        assert [row.status for row in Discount.objects.order_by("pk")] == ["archived", "active"]


def test_gift_card_is_issued_with_its_ledger(shop, owner):
    owner.confirm("discounts/voucher/issue/", initial_balance_cents=5000, currency="eur")

    with shop.scope():
        voucher = Voucher.objects.get()
        entry = VoucherRedemption.objects.get()
        assert Event.objects.get().type == "voucher.issued"
        assert StaffAction.objects.get().subject_id == voucher.pk
    assert (voucher.balance_cents, voucher.currency) == (5000, "EUR")
    assert (entry.amount_cents, entry.actor) == (5000, f"staff:{owner.user.username}")


@pytest.mark.parametrize(
    "changes",
    [
        {"initial_balance_cents": 0},
        {"initial_balance_cents": 2**53},
        {"currency": "XXX"},
        {"recipient_email": "nobody"},
        {"expires_at_0": "2020-01-01", "expires_at_1": "00:00"},
    ],
)
def test_gift_card_that_makes_no_sense_is_refused(shop, owner, changes):
    answer = owner.confirm(
        "discounts/voucher/issue/", **{"initial_balance_cents": 5000, "currency": "EUR"} | changes
    )

    assert answer.context["form"].errors
    with shop.scope():
        assert not Voucher.objects.exists()


def test_balance_of_a_gift_card_can_not_be_changed(shop, owner):
    owner.confirm("discounts/voucher/issue/", initial_balance_cents=5000, currency="EUR")
    with shop.scope():
        voucher = Voucher.objects.get()

    answer = owner.post(f"discounts/voucher/{voucher.pk}/change/", {"balance_cents": 9000})

    assert answer.status_code == 403
    with shop.scope():
        assert Voucher.objects.get().balance_cents == 5000

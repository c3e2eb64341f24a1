import pytest

from commerce.backoffice.models import StaffAction
from commerce.events.models import Event
from discounts.models import Voucher, VoucherRedemption


def test_gift_card_is_issued_with_its_ledger(shop, owner):
    owner.confirm("discounts/voucher/issue/", initial_balance_cents="50.00", currency="eur")

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
        {"initial_balance_cents": "0.00"},
        {"initial_balance_cents": "90071992547409.92"},
        {"currency": "XXX"},
        {"recipient_email": "nobody"},
        {"expires_at_0": "2020-01-01", "expires_at_1": "00:00"},
    ],
)
def test_gift_card_that_makes_no_sense_is_refused(shop, owner, changes):
    answer = owner.confirm(
        "discounts/voucher/issue/", **{"initial_balance_cents": "50.00", "currency": "EUR"} | changes
    )

    assert answer.context["form"].errors
    with shop.scope():
        assert not Voucher.objects.exists()


def test_balance_of_a_gift_card_can_not_be_changed(shop, owner):
    owner.confirm("discounts/voucher/issue/", initial_balance_cents="50.00", currency="EUR")
    with shop.scope():
        voucher = Voucher.objects.get()

    answer = owner.post(f"discounts/voucher/{voucher.pk}/change/", {"balance_cents": 9000})

    assert answer.status_code == 403
    with shop.scope():
        assert Voucher.objects.get().balance_cents == 5000

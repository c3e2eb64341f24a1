import pytest
from django.utils import timezone

from commerce.backoffice.models import StaffAction
from commerce.events.models import Event
from commerce.outbox.models import OutboxDispatch
from discounts.models import Voucher
from discounts.vouchers.holds import hold_vouchers
from tests.backoffice.clients import messages_of
from tests.discounts.vouchers.cards import event_types, make_voucher, state

LIST = "discounts/voucher/"
ISSUE = f"{LIST}issue/"


def path(voucher, action):
    return f"{LIST}{voucher.pk}/{action}/"


def list_codes(answer):
    return [voucher.code for voucher in answer.context["cl"].result_list]


def test_gift_card_is_found_by_its_code_in_any_form(shop, owner):
    make_voucher(shop)
    voucher = make_voucher(shop)
    typed = voucher.code.replace("-", "").lower()

    assert list_codes(owner.get(LIST, q=voucher.code)) == [voucher.code]
    assert list_codes(owner.get(LIST, q=f" {typed} ")) == [voucher.code]
    assert voucher.code in list_codes(owner.get(LIST, q=voucher.code[:7]))


def test_gift_card_is_found_by_email(shop, owner):
    make_voucher(shop)
    voucher = make_voucher(shop, recipient_email="ada@example.com")

    assert list_codes(owner.get(LIST, q="ADA@example")) == [voucher.code]


def test_gift_cards_are_listed_by_the_status_they_show(shop, owner):
    active, overdue = make_voucher(shop), make_voucher(shop, is_overdue=True)

    assert list_codes(owner.get(LIST, status="active")) == [active.code]
    assert list_codes(owner.get(LIST, status="expired")) == [overdue.code]
    assert "Expired" in owner.get(LIST, status="expired").content.decode()
    assert list_codes(owner.get(LIST, status="nonsense")) == []


def test_page_shows_ledger_holds_and_payment_attempts(shop, support):
    voucher = make_voucher(shop)
    shop.admin.post("vouchers/redeem.json", {"code": voucher.code, "amount_cents": 1234})
    shop.admin.post("vouchers/redeem.json", {"code": voucher.code, "amount_cents": 99_999})
    with shop.scope():
        hold_vouchers(checkout_id=4711, amounts={voucher.pk: 555}, now=timezone.now())

    page = support.get(f"{LIST}{voucher.pk}/change/").content.decode()

    for text in ("-€12.34", "€87.66", "€5.55", "4711", "insufficient_balance", "€999.99", "€82.11"):
        assert text in page, text


def test_gift_card_is_issued_and_sent(shop, owner):
    owner.confirm(
        ISSUE,
        initial_balance_cents="50.00",
        currency="EUR",
        recipient_email="ada@example.com",
        send_email="on",
    )

    with shop.scope():
        voucher = Voucher.objects.get()
        assert OutboxDispatch.objects.get().payload["ctx"]["voucher"]["code"] == voucher.code


def test_gift_card_without_a_recipient_can_not_be_sent(shop, owner):
    answer = owner.confirm(ISSUE, initial_balance_cents="50.00", currency="EUR", send_email="on")

    assert set(answer.context["form"].errors) == {"recipient_email"}
    with shop.scope():
        assert not Voucher.objects.exists()


def test_gift_card_is_sent_again(shop, owner):
    voucher = make_voucher(shop, recipient_email="ada@example.com", send_email=True)

    answer = owner.confirm(path(voucher, "resend"))

    assert messages_of(answer) == ["The gift card will be emailed to its recipient."]
    with shop.scope():
        assert OutboxDispatch.objects.count() == 2
        assert StaffAction.objects.get().subject_id == voucher.pk


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "The gift card has no recipient."),
        ({"recipient_email": "ada@example.com", "is_overdue": True}, "The gift card is not active"),
    ],
)
def test_gift_card_that_is_of_no_use_to_anybody_is_not_sent_again(shop, owner, fields, message):
    voucher = make_voucher(shop, **fields)

    answer = owner.confirm(path(voucher, "resend"))

    assert messages_of(answer) == [message]
    with shop.scope():
        assert not OutboxDispatch.objects.exists()


def test_gift_card_is_disabled(shop, owner):
    voucher = make_voucher(shop)

    answer = owner.confirm(path(voucher, "disable"))

    assert messages_of(answer) == ["The gift card is disabled."]
    assert state(shop, voucher) == (10_000, 0, "disabled")


def test_gift_card_is_revoked_for_a_reason(shop, owner):
    voucher = make_voucher(shop)

    owner.confirm(path(voucher, "revoke"), reason="Stolen")

    assert state(shop, voucher) == (10_000, 0, "revoked")
    with shop.scope():
        assert Event.objects.get(type="voucher.revoked").data["reason"] == "Stolen"
    assert "Stolen" in owner.get(f"{LIST}{voucher.pk}/change/").content.decode()


def test_gift_card_is_not_revoked_without_a_reason(shop, owner):
    voucher = make_voucher(shop)

    answer = owner.confirm(path(voucher, "revoke"), reason=" ")

    assert set(answer.context["form"].errors) == {"reason"}
    assert state(shop, voucher) == (10_000, 0, "active")


def test_disabling_a_revoked_gift_card_says_what_it_is(shop, owner):
    voucher = make_voucher(shop)
    shop.admin.post(f"vouchers/{voucher.pk}/revoke.json", {"reason": "Stolen"})

    assert messages_of(owner.confirm(path(voucher, "disable"))) == ["The gift card is revoked."]


@pytest.mark.parametrize("action", ["resend", "disable", "revoke"])
def test_support_reads_and_does_nothing(shop, support, action):
    voucher = make_voucher(shop, recipient_email="ada@example.com")

    acted = support.confirm(path(voucher, action), reason="Stolen")
    issued = support.confirm(ISSUE, initial_balance_cents="50.00", currency="EUR")

    assert (acted.status_code, issued.status_code) == (403, 403)
    assert support.get(f"{LIST}{voucher.pk}/change/").status_code == 200
    assert state(shop, voucher) == (10_000, 0, "active")
    assert event_types(shop) == ["voucher.issued"]
    with shop.scope():
        assert not OutboxDispatch.objects.exists()


@pytest.mark.parametrize("action", ["resend", "disable", "revoke"])
def test_gift_card_of_another_shop_is_out_of_reach(shop, other_shop, owner, action):
    theirs = make_voucher(other_shop, recipient_email="ada@example.com")

    answer = owner.confirm(path(theirs, action), reason="Stolen")

    assert answer.status_code == 404
    assert state(other_shop, theirs) == (10_000, 0, "active")

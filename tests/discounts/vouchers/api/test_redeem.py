"""`vouchers/redeem.json` and the ledger that it writes."""

import pytest
from django.utils import timezone

from discounts.models import Voucher
from discounts.vouchers.holds import hold_vouchers
from tests.discounts.vouchers.cards import (
    attempts,
    event_types,
    ledger,
    make_order,
    make_voucher,
    state,
)
from tests.problems import field_errors, problem


def redeem(shop, voucher, amount_cents, **fields):
    body = {"code": voucher.code, "amount_cents": amount_cents} | fields
    return shop.admin.post("vouchers/redeem.json", body)


def unchanged(shop, voucher):
    assert state(shop, voucher)[:2] == (10_000, 0)
    assert ledger(shop, voucher) == [("issue", 10_000, 10_000)]
    assert event_types(shop) == ["voucher.issued"]


def test_redeem_takes_a_part_for_an_order(shop):
    order, voucher = make_order(shop), make_voucher(shop)

    answer = redeem(shop, voucher, 2500, order_id=order.pk)

    assert answer.status_code == 200
    shown, redemption = answer.json()["voucher"], answer.json()["redemption"]
    assert (shown["balance_cents"], shown["available_cents"], shown["status"]) == ("7500", "7500", "active")
    assert shown["last_redeemed_at"] is not None
    assert redemption == {
        "id": redemption["id"],
        "voucher_id": str(voucher.pk),
        "order_id": str(order.pk),
        "amount_cents": "2500",
        "balance_before_cents": "10000",
        "balance_after_cents": "7500",
        "currency": "EUR",
        "created_at": redemption["created_at"],
    }
    assert ledger(shop, voucher) == [("issue", 10_000, 10_000), ("redeem", -2500, 7500)]
    assert attempts(shop, voucher) == [("succeeded", None, 2500)]
    assert event_types(shop) == ["voucher.issued", "voucher.redeemed"]


def test_redeem_of_the_rest_depletes(shop):
    voucher = make_voucher(shop)

    redeem(shop, voucher, 9999)
    answer = redeem(shop, voucher, 1)

    assert (answer.json()["voucher"]["balance_cents"], answer.json()["voucher"]["status"]) == (
        "0",
        "depleted",
    )
    assert event_types(shop)[1:] == ["voucher.redeemed", "voucher.redeemed", "voucher.depleted"]


@pytest.mark.parametrize("form", [str.lower, lambda code: code.replace("-", ""), lambda code: f" {code} "])
def test_redeem_takes_the_code_in_any_form(shop, form):
    voucher = make_voucher(shop)

    answer = shop.admin.post("vouchers/redeem.json", {"code": form(voucher.code), "amount_cents": "1"})

    assert answer.status_code == 200
    assert state(shop, voucher) == (9999, 0, "active")


def test_redeem_of_more_than_the_balance_is_refused_and_kept_as_an_attempt(shop):
    voucher = make_voucher(shop)

    answer = redeem(shop, voucher, 10_001)

    assert problem(answer) == (422, "insufficient_balance")
    assert (answer.json()["balance_cents"], answer.json()["available_cents"]) == ("10000", "10000")
    unchanged(shop, voucher)
    assert attempts(shop, voucher) == [("refused", "insufficient_balance", 10_001)]


def test_redeem_of_what_a_checkout_holds_is_refused(shop):
    voucher = make_voucher(shop)
    with shop.scope():
        hold_vouchers(checkout_id=7, amounts={voucher.pk: 2500}, now=timezone.now())

    answer = redeem(shop, voucher, 7501)

    assert problem(answer) == (422, "insufficient_balance")
    assert (answer.json()["balance_cents"], answer.json()["available_cents"]) == ("10000", "7500")
    assert state(shop, voucher) == (10_000, 2500, "active")


@pytest.mark.parametrize("status", ["depleted", "expired", "disabled", "revoked"])
def test_redeem_of_a_voucher_that_is_not_active_is_refused(shop, status):
    voucher = make_voucher(shop)
    with shop.scope():
        Voucher.objects.update(status=status)

    answer = redeem(shop, voucher, 1)

    assert problem(answer) == (409, "voucher_not_active")
    assert answer.json()["voucher_status"] == status
    unchanged(shop, voucher)
    assert attempts(shop, voucher) == [("refused", "voucher_not_active", 1)]


def test_redeem_of_an_overdue_voucher_is_refused_before_the_sweeper_came(shop):
    voucher = make_voucher(shop, is_overdue=True)

    answer = redeem(shop, voucher, 1)

    assert problem(answer) == (409, "voucher_not_active")
    assert answer.json()["voucher_status"] == "expired"
    unchanged(shop, voucher)


@pytest.mark.parametrize("code", ["0000-0000-0000-0000", "SUMMER", "IIII-LLLL-OOOO-UUUU"])
def test_redeem_of_an_unknown_code_is_not_found(shop, code):
    answer = shop.admin.post("vouchers/redeem.json", {"code": code, "amount_cents": 1})

    assert problem(answer) == (404, "not_found")


def test_redeem_of_another_accounts_code_is_not_found(shop, other_shop):
    theirs = make_voucher(other_shop)

    answer = redeem(shop, theirs, 1)

    assert problem(answer) == (404, "not_found")
    unchanged(other_shop, theirs)
    assert attempts(other_shop, theirs) == []


def test_redeem_for_an_unknown_order_or_anothers_is_refused(shop, other_shop):
    voucher, theirs = make_voucher(shop), make_order(other_shop)

    answers = [redeem(shop, voucher, 1, order_id=order_id) for order_id in (theirs.pk, 2**52)]

    assert [field_errors(answer) for answer in answers] == [{("order_id", "not_found")}] * 2
    unchanged(shop, voucher)


def test_redeem_for_an_order_in_another_currency_is_refused(shop):
    voucher, order = make_voucher(shop), make_order(shop, currency="USD")

    answer = redeem(shop, voucher, 1, order_id=order.pk)

    assert problem(answer) == (409, "currency_mismatch")
    assert (answer.json()["currency"], answer.json()["voucher_currency"]) == ("USD", "EUR")
    unchanged(shop, voucher)
    assert attempts(shop, voucher) == [("refused", "currency_mismatch", 1)]


def test_redeem_for_a_cancelled_order_is_refused(shop):
    voucher, order = make_voucher(shop), make_order(shop, status="cancelled", cancelled_at=timezone.now())

    answer = redeem(shop, voucher, 1, order_id=order.pk)

    assert problem(answer) == (409, "order_not_open")
    unchanged(shop, voucher)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"amount_cents": 1}, "code"),
        ({"code": "0000-0000-0000-0000"}, "amount_cents"),
        ({"code": "0000-0000-0000-0000", "amount_cents": 0}, "amount_cents"),
        ({"code": "0000-0000-0000-0000", "amount_cents": -1}, "amount_cents"),
        ({"code": "0000-0000-0000-0000", "amount_cents": 1.5}, "amount_cents"),
        ({"code": "0000-0000-0000-0000", "amount_cents": 2**53}, "amount_cents"),
        ({"code": 1, "amount_cents": 1}, "code"),
        ({"code": "\x00", "amount_cents": 1}, "code"),
        ({"code": "0" * 65, "amount_cents": 1}, "code"),
        ({"code": "0000-0000-0000-0000", "amount_cents": 1, "order_id": "x"}, "order_id"),
    ],
)
def test_redeem_that_makes_no_sense_is_refused(shop, body, field):
    assert {name for name, _ in field_errors(shop.admin.post("vouchers/redeem.json", body))} == {field}


def test_redeem_sent_again_under_its_key_takes_once(shop):
    voucher = make_voucher(shop)
    body = {"code": voucher.code, "amount_cents": 2500}

    first = shop.admin.post("vouchers/redeem.json", body, idempotency_key="a")
    second = shop.admin.post("vouchers/redeem.json", body, idempotency_key="a")

    assert second.json() == first.json()
    assert state(shop, voucher) == (7500, 0, "active")


def test_redeem_for_an_order_costs_ten_statements(shop, django_assert_num_queries):
    order, voucher = make_order(shop), make_voucher(shop)
    redeem(shop, voucher, 1)

    with django_assert_num_queries(10):
        redeem(shop, voucher, 1, order_id=order.pk)


def test_ledger_shows_what_was_issued_and_taken(shop):
    order, voucher = make_order(shop), make_voucher(shop)
    redeem(shop, voucher, 2500, order_id=order.pk)

    entries = shop.admin.get("voucher_redemptions.json").json()

    assert entries["next_cursor_id"] is None
    taken, issued = entries["voucher_redemptions"]
    assert taken == {
        "id": taken["id"],
        "voucher_id": str(voucher.pk),
        "kind": "redeem",
        "amount_cents": "-2500",
        "balance_after_cents": "7500",
        "order_id": str(order.pk),
        "checkout_id": None,
        "actor": taken["actor"],
        "created_at": taken["created_at"],
    }
    assert (issued["kind"], issued["amount_cents"], issued["actor"]) == ("issue", "10000", "test")


def test_ledger_is_filtered_by_voucher_order_and_kind(shop, other_shop):
    order, voucher, other = make_order(shop), make_voucher(shop), make_voucher(shop)
    make_voucher(other_shop)
    redeem(shop, voucher, 2500, order_id=order.pk)

    def kinds(query):
        rows = shop.admin.get(f"voucher_redemptions.json?{query}").json()["voucher_redemptions"]
        return [(row["voucher_id"], row["kind"]) for row in rows]

    assert kinds(f"voucher_id={other.pk}") == [(str(other.pk), "issue")]
    assert kinds(f"order_id={order.pk}") == [(str(voucher.pk), "redeem")]
    assert kinds("kind=issue") == [(str(other.pk), "issue"), (str(voucher.pk), "issue")]
    assert kinds(f"kind=redeem&voucher_id={other.pk}") == []
    assert field_errors(shop.admin.get("voucher_redemptions.json?kind=gift")) == {("kind", "invalid_choice")}


def test_ledger_can_not_be_written_to(shop):
    for method in ("POST", "PUT", "DELETE"):
        assert problem(shop.admin.send(method, "voucher_redemptions.json", {})) == (405, "method_not_allowed")

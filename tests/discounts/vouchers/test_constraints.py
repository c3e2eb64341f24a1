"""Database constraints of gift cards."""

import pytest
from django.db import DatabaseError, connection

from discounts.models import Voucher, VoucherHold, VoucherPaymentAttempt, VoucherRedemption
from tests.commerce.refusals import refused_constraint
from tests.discounts.vouchers.cards import ledger, make_voucher


@pytest.fixture
def voucher(shop):
    with shop.scope():
        yield make_voucher(shop)


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ({"balance_cents": -1}, "vouchers_balance"),
        ({"balance_cents": 10_001}, "vouchers_balance"),
        ({"held_cents": -1}, "vouchers_held"),
        ({"held_cents": 10_001}, "vouchers_held"),
        ({"initial_balance_cents": 0, "balance_cents": 0}, "vouchers_initial_balance"),
    ],
)
def test_voucher_keeps_its_amounts_in_bounds(voucher, change, constraint):
    assert refused_constraint(lambda: Voucher.objects.update(**change)) == constraint


def test_code_is_unique_across_accounts(shop, other_shop):
    voucher = make_voucher(shop)
    fields = {"code": voucher.code, "currency": "EUR", "initial_balance_cents": 1, "balance_cents": 1}

    with other_shop.scope():
        assert refused_constraint(lambda: Voucher.objects.create(**fields)) == "vouchers_code"


@pytest.mark.parametrize(
    ("entry", "constraint"),
    [
        ({"kind": "redeem", "amount_cents": 1}, "voucher_redemptions_sign"),
        ({"kind": "redeem", "amount_cents": 0}, "voucher_redemptions_sign"),
        ({"kind": "issue", "amount_cents": -1}, "voucher_redemptions_sign"),
        ({"kind": "reversal", "amount_cents": 0}, "voucher_redemptions_sign"),
        (
            {"kind": "redeem", "amount_cents": -1, "balance_after_cents": -1},
            "voucher_redemptions_balance",
        ),
    ],
)
def test_ledger_entry_has_the_sign_of_its_kind(voucher, entry, constraint):
    entry = {"balance_after_cents": 0, "actor": "test"} | entry

    assert (
        refused_constraint(lambda: VoucherRedemption.objects.create(voucher=voucher, **entry)) == constraint
    )


def test_hold_of_nothing_is_refused(voucher):
    hold = {"voucher": voucher, "checkout_id": 7, "amount_cents": 0}

    assert refused_constraint(lambda: VoucherHold.objects.create(**hold)) == "voucher_holds_amount"


def test_second_hold_of_a_checkout_is_refused(voucher):
    hold = {"voucher": voucher, "checkout_id": 7, "amount_cents": 1}
    VoucherHold.objects.create(**hold)

    assert refused_constraint(lambda: VoucherHold.objects.create(**hold)) == "voucher_holds_one"


@pytest.mark.parametrize(
    "outcome",
    [{"status": "succeeded", "failure_code": "x"}, {"status": "refused", "failure_code": None}],
)
def test_attempt_has_a_failure_code_exactly_when_it_was_refused(voucher, outcome):
    attempt = {"voucher": voucher, "amount_cents": 1, "actor": "test"} | outcome

    assert (
        refused_constraint(lambda: VoucherPaymentAttempt.objects.create(**attempt))
        == "voucher_payment_attempts_failure"
    )


@pytest.mark.parametrize("table", ["voucher_redemptions", "voucher_payment_attempts"])
@pytest.mark.parametrize("change", ["UPDATE {} SET amount_cents = 1", "DELETE FROM {}"])
def test_what_is_written_down_stays(shop, table, change):
    voucher = make_voucher(shop)

    with pytest.raises(DatabaseError), shop.scope(), connection.cursor() as cursor:
        cursor.execute(change.format(table))

    assert ledger(shop, voucher) == [("issue", 10_000, 10_000)]

"""The commands issue_vouchers and export_voucher_redemptions."""

import csv
import stat
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from commerce.formats import timestamp
from discounts.management.commands import issue_vouchers
from discounts.models import Voucher, VoucherRedemption
from discounts.vouchers.operations import redeem_voucher
from tests.discounts.vouchers.cards import event_types, ledger, make_order, make_voucher

CARDS = ("--count", "3", "--amount", "2500", "--currency", "eur")


def run(*arguments):
    """Run a command; return its standard output as rows."""
    out = StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=StringIO())
    return list(csv.reader(StringIO(out.getvalue())))


def test_vouchers_are_issued_and_their_codes_written(shop, monkeypatch):
    monkeypatch.setattr(issue_vouchers, "_BATCH", 2)

    header, *rows = run("issue_vouchers", shop.handle, *CARDS, "--expires-at", "2030-01-01T00:00:00Z")

    assert header == ["code", "currency", "initial_balance_cents", "expires_at"]
    with shop.scope():
        vouchers = list(Voucher.objects.order_by("pk"))
    assert rows == [[voucher.code, "EUR", "2500", "2030-01-01T00:00:00Z"] for voucher in vouchers]
    assert len(vouchers) == 3
    assert ledger(shop, vouchers[0]) == [("issue", 2500, 2500)]
    assert event_types(shop) == ["voucher.issued"] * 3


def test_codes_are_written_to_a_new_file_that_only_its_owner_reads(shop, tmp_path):
    path = tmp_path / "codes.csv"

    assert run("issue_vouchers", shop.handle, *CARDS, "--output", path) == []

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_text().splitlines()) == 4


def test_file_that_is_there_is_not_written_over_and_nothing_is_issued(shop, tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("kept")

    with pytest.raises(CommandError, match="can't be created"):
        run("issue_vouchers", shop.handle, *CARDS, "--output", path)

    assert path.read_text() == "kept"
    with shop.scope():
        assert not Voucher.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        ("--count", "0"),
        ("--amount", "-5"),
        ("--amount", str(2**53)),
        ("--currency", "XXX"),
        ("--expires-at", "2020-01-01T00:00:00Z"),
        ("--expires-at", "2030-01-01"),
        ("--expires-at", "2030-99-01T00:00:00Z"),
    ],
)
def test_vouchers_that_make_no_sense_are_refused(shop, changes):
    with pytest.raises(CommandError):
        run("issue_vouchers", shop.handle, *CARDS, *changes)

    with shop.scope():
        assert not Voucher.objects.exists()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (("--currency", "XXX"), "currency: Not an ISO 4217 currency code."),
        (("--expires-at", "2020-01-01T00:00:00Z"), "expires_at: The expiry must be in the future."),
        (("--amount", "0"), "initial_balance_cents: Must be at least 1."),
    ],
)
def test_card_that_the_operation_refuses_leaves_no_file(shop, tmp_path, changes, complaint):
    path = tmp_path / "codes.csv"

    with pytest.raises(CommandError, match=complaint):
        run("issue_vouchers", shop.handle, *CARDS, *changes, "--output", path)

    assert not path.exists()


@pytest.mark.parametrize("command", [("issue_vouchers", *CARDS), ("export_voucher_redemptions",)])
def test_unknown_account_is_refused(shop, command):
    name, *options = command

    with pytest.raises(CommandError, match="Account 'nowhere' doesn't exist"):
        run(name, "nowhere", *options)


def test_ledger_is_exported_oldest_first(shop, other_shop):
    order, voucher = make_order(shop), make_voucher(shop)
    make_voucher(other_shop)
    with shop.scope():
        redeem_voucher(
            code=voucher.code, amount_cents=2500, order_id=order.pk, actor="key:1", now=timezone.now()
        )
        issued, taken = VoucherRedemption.objects.order_by("pk")

    header, *rows = run("export_voucher_redemptions", shop.handle)

    shown = [dict(zip(header, row, strict=True)) for row in rows]
    assert [row["amount_cents"] for row in shown] == ["10000", "-2500"]
    assert shown[0]["created_at"] == timestamp(issued.created_at)
    assert shown[1] == {
        "id": str(taken.pk),
        "created_at": timestamp(taken.created_at),
        "voucher_id": str(voucher.pk),
        "code": voucher.code,
        "kind": "redeem",
        "amount_cents": "-2500",
        "balance_after_cents": "7500",
        "currency": "EUR",
        "order_id": str(order.pk),
        "order_number": str(order.number),
        "checkout_id": "",
        "actor": "key:1",
    }


def test_export_is_of_the_time_asked_for(shop):
    make_voucher(shop)
    with shop.scope():
        moment = VoucherRedemption.objects.get().created_at
    just_after = moment + timedelta(microseconds=1)

    def rows(*options):
        return len(run("export_voucher_redemptions", shop.handle, *options)) - 1

    assert rows("--since", moment.isoformat(), "--until", just_after.isoformat()) == 1
    assert rows("--until", moment.isoformat()) == 0
    assert rows("--since", just_after.isoformat()) == 0

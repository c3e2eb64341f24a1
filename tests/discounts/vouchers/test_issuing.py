"""Codes are unique across accounts, and a batch takes no more statements than a single gift card."""

from itertools import chain, repeat

import pytest
from django.utils import timezone

from discounts.vouchers import codes, operations
from discounts.vouchers.codes import SYMBOLS, make_voucher_code, parse_voucher_code
from discounts.vouchers.operations import issue_vouchers
from tests.discounts.vouchers.cards import event_types, ledger, make_voucher


def issue(shop, count=1):
    with shop.scope():
        return issue_vouchers(
            count=count, initial_balance_cents=500, currency="EUR", actor="test", now=timezone.now()
        )


def test_codes_have_thirty_two_symbols_none_of_which_looks_like_another():
    assert len(set(SYMBOLS)) == 32
    assert not set("ILOU") & set(SYMBOLS)
    assert len({make_voucher_code() for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        ("0A1B-2C3D-4E5F-6G7H", "0A1B-2C3D-4E5F-6G7H"),
        ("0a1b2c3d4e5f6g7h", "0A1B-2C3D-4E5F-6G7H"),
        (" 0a1b 2c3d-4E5F 6g7h ", "0A1B-2C3D-4E5F-6G7H"),
        ("0A1B-2C3D-4E5F-6G7", None),
        ("0A1B-2C3D-4E5F-6G7HH", None),
        ("0A1B-2C3D-4E5F-6G7O", None),
        ("", None),
    ],
)
def test_code_is_read_in_any_form(typed, canonical):
    assert parse_voucher_code(typed) == canonical


def test_code_that_another_account_has_is_drawn_again(shop, other_shop, monkeypatch):
    theirs = make_voucher(other_shop)
    drawn = chain([theirs.code, theirs.code], repeat("AAAA-AAAA-AAAA-AAAA"))
    monkeypatch.setattr(operations, "make_voucher_code", lambda: next(drawn))

    (voucher,) = issue(shop)

    assert voucher.code == "AAAA-AAAA-AAAA-AAAA"
    assert ledger(shop, voucher) == [("issue", 500, 500)]
    assert ledger(other_shop, theirs) == [("issue", 10_000, 10_000)]


def test_codes_drawn_twice_in_one_batch_are_drawn_again(shop, monkeypatch):
    drawn = iter(["AAAA-AAAA-AAAA-AAAA", "AAAA-AAAA-AAAA-AAAA", "BBBB-BBBB-BBBB-BBBB"])
    monkeypatch.setattr(operations, "make_voucher_code", lambda: next(drawn))

    vouchers = issue(shop, count=2)

    assert [voucher.code for voucher in vouchers] == ["AAAA-AAAA-AAAA-AAAA", "BBBB-BBBB-BBBB-BBBB"]


def test_batch_has_a_ledger_entry_and_an_event_for_each(shop):
    vouchers = issue(shop, count=3)

    assert [ledger(shop, voucher) for voucher in vouchers] == [[("issue", 500, 500)]] * 3
    assert event_types(shop) == ["voucher.issued"] * 3


@pytest.mark.parametrize("number", [1, 50])
def test_number_of_statements_does_not_depend_on_the_number_of_vouchers(
    shop, django_assert_num_queries, number
):
    with shop.scope(), django_assert_num_queries(3):
        issue_vouchers(
            count=number, initial_balance_cents=500, currency="EUR", actor="test", now=timezone.now()
        )


def test_code_comes_from_the_systems_source_of_secrets(monkeypatch):
    monkeypatch.setattr(codes.secrets, "choice", lambda symbols: symbols[-1])

    assert make_voucher_code() == "ZZZZ-ZZZZ-ZZZZ-ZZZZ"

"""Formatting domain values, and writing and reading snapshots."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import pytest

from commerce.formats import as_text, parse_id
from commerce.orders.snapshots import AppliedCode, PickupPointSnapshot, VatSnapshot
from commerce.snapshots import SnapshotEncoder, read_snapshot

MOMENT = datetime(2026, 3, 1, 12, 30, tzinfo=timezone(timedelta(hours=2)))


@dataclass(frozen=True)
class Part:
    id: int
    amount_cents: int
    quantity: int


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"order_id": 7, "total_cents": 1990, "quantity": 3}, {"order_id": "7", "total_cents": "1990", "quantity": 3}),
        ({"order_number": 1001, "tax_rate_bp": 1900}, {"order_number": "1001", "tax_rate_bp": 1900}),
        ({"customer_id": None, "external_id": "00123"}, {"customer_id": None, "external_id": "00123"}),
        ({"rate_ids": [1, 2], "sizes": [1, 2]}, {"rate_ids": ["1", "2"], "sizes": [1, 2]}),
        ({"is_free": True, "weight": 1.5, "expires_at": MOMENT}, {"is_free": True, "weight": 1.5, "expires_at": "2026-03-01T10:30:00Z"}),
        ({"items": [{"variant_id": 5, "requested": 2}]}, {"items": [{"variant_id": "5", "requested": 2}]}),
        (Part(1, 250, 2), {"id": "1", "amount_cents": "250", "quantity": 2}),
        ([Part(1, 250, 2)], [{"id": "1", "amount_cents": "250", "quantity": 2}]),
        ({"part": Part(1, 250, 2)}, {"part": {"id": "1", "amount_cents": "250", "quantity": 2}}),
        (None, None),
    ],
    ids=str,
)  # fmt: skip
def test_ids_and_cents_leave_as_text_and_all_else_as_it_is(value, expected):
    assert as_text(value) == expected


@pytest.mark.parametrize(
    ("snapshot", "stored"),
    [
        (
            AppliedCode(code="TEN", discount_id=2**53 - 1, voucher_id=None, type="discount_code", amount_cents=5),
            {"code": "TEN", "discount_id": 2**53 - 1, "voucher_id": None, "type": "discount_code", "amount_cents": 5},
        ),
        (
            VatSnapshot(country_code="AT", number="U1", status="valid", name="Ada", validated_at=MOMENT),
            {
                "country_code": "AT",
                "number": "U1",
                "status": "valid",
                "name": "Ada",
                "validated_at": "2026-03-01T10:30:00Z",
                "reverse_charge": False,
            },
        ),
    ],
)  # fmt: skip
def test_snapshot_is_stored_with_integers_and_read_back(snapshot, stored):
    assert json.loads(json.dumps(snapshot, cls=SnapshotEncoder)) == stored
    assert read_snapshot(type(snapshot), stored) == snapshot


def test_numbers_stored_as_text_are_read_as_integers_and_other_text_stays():
    stored = {"id": "7", "external_id": "00123", "zip": "10115", "added_later": 1}

    point = read_snapshot(PickupPointSnapshot, stored)

    assert (point.id, point.external_id, point.zip, point.kind) == (7, "00123", "10115", None)


def test_timestamp_is_read_in_utc():
    stored = {
        "country_code": "AT",
        "number": "U1",
        "status": "valid",
        "validated_at": "2026-03-01T10:30:00.5Z",
    }

    vat = read_snapshot(VatSnapshot, stored)

    assert vat.validated_at == datetime(2026, 3, 1, 10, 30, 0, 500_000, tzinfo=UTC)


def test_what_is_no_snapshot_is_not_stored():
    with pytest.raises(TypeError):
        json.dumps({"amount": object()}, cls=SnapshotEncoder)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", 7),
        ("007", 7),
        ("0", 0),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        ("-1", None),
        ("1.5", None),
        ("", None),
        (" 7", None),
        ("tea", None),
        ("\u0663", None),
        ("\u00b2", None),
    ],
)
def test_only_plain_digits_that_fit_a_bigint_are_an_id(text, expected):
    assert parse_id(text) == expected

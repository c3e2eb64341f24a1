"""`manage.py export_discount_redemptions`: the ledger as CSV."""

import csv
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.management import exports
from tests.discounts.ledgers import make_redemption

HEADER = [
    "id",
    "discount_id",
    "code",
    "checkout_id",
    "customer_id",
    "customer_email",
    "amount_cents",
    "currency",
    "created_at",
    "kind",
    "order_id",
]


def export(shop, *options):
    """Run the command for a shop; return its lines, the header first."""
    out = StringIO()
    call_command("export_discount_redemptions", shop.handle, *options, stdout=out)
    return list(csv.reader(StringIO(out.getvalue())))


def test_export_has_a_header_and_every_field(shop, other_shop):
    make_redemption(other_shop)
    entry = make_redemption(shop, code="SUMMER", customer_email="ann@example.com", amount_cents=500)

    header, line = export(shop)

    assert header == HEADER
    assert dict(zip(header, line, strict=True)) == {
        "id": str(entry.pk),
        "discount_id": str(entry.discount_id),
        "code": "SUMMER",
        "checkout_id": str(entry.checkout_id),
        "customer_id": "",
        "customer_email": "ann@example.com",
        "amount_cents": "500",
        "currency": "EUR",
        "created_at": str(entry.created_at),
        "kind": "redeem",
        "order_id": str(entry.order_id),
    }


def test_export_of_an_empty_ledger_is_its_header(shop):
    assert export(shop) == [HEADER]


def test_text_that_a_spreadsheet_would_run_is_made_harmless(shop):
    make_redemption(shop, code="-2+3", amount_cents=1)

    assert export(shop)[1][2] == "'-2+3"


@pytest.mark.parametrize(
    ("since", "until", "count"),
    [(None, None, 1), (0, None, 1), (1, None, 0), (None, 0, 0), (None, 1, 1), (0, 1, 1)],
)
def test_window_has_its_start_and_not_its_end(shop, since, until, count):
    entry = make_redemption(shop)
    window = {"--since": since, "--until": until}
    options = [
        f"{name}={(entry.created_at + timedelta(microseconds=offset)).astimezone(UTC).isoformat()}"
        for name, offset in window.items()
        if offset is not None
    ]

    assert len(export(shop, *options)) == 1 + count


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_batches_are_read_one_after_the_other(shop, monkeypatch, size):
    monkeypatch.setattr(exports, "_PAGE", size)
    entries = [make_redemption(shop) for _ in range(3)]

    assert [line[0] for line in export(shop)[1:]] == [str(entry.pk) for entry in entries]


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01T00:00:00Z"])
def test_time_that_is_none_is_refused(shop, text):
    with pytest.raises(CommandError, match="ISO 8601"):
        export(shop, f"--since={text}")


@pytest.mark.django_db
def test_unknown_account_is_refused():
    with pytest.raises(CommandError, match="Account 'nowhere' doesn't exist"):
        call_command("export_discount_redemptions", "nowhere", stdout=StringIO())


def test_timestamps_are_in_utc(shop):
    entry = make_redemption(shop)

    (shown,) = [line[HEADER.index("created_at")] for line in export(shop)[1:]]

    assert datetime.fromisoformat(shown) == entry.created_at
    assert shown.endswith("+00:00")

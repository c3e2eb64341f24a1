"""The ledger of gift cards as a table, for accounting."""

from collections.abc import Iterator
from datetime import datetime

from commerce.rest.shapes import timestamp
from discounts.models import VoucherRedemption

_CHUNK = 2000

COLUMNS = (
    "id",
    "created_at",
    "voucher_id",
    "code",
    "kind",
    "amount_cents",
    "balance_after_cents",
    "currency",
    "order_id",
    "order_number",
    "checkout_id",
    "actor",
)


def ledger_rows(
    *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[tuple[object, ...]]:
    """The entries of the account in scope from `since` until just before `until`, oldest first.

    They are read in one statement, a chunk at a time.
    """
    entries = VoucherRedemption.objects.select_related("voucher", "order").order_by("pk")
    if since is not None:
        entries = entries.filter(created_at__gte=since)
    if until is not None:
        entries = entries.filter(created_at__lt=until)
    return map(_row, entries.iterator(chunk_size=_CHUNK))


def _row(entry: VoucherRedemption) -> tuple[object, ...]:
    return (
        entry.pk,
        timestamp(entry.created_at),
        entry.voucher_id,
        entry.voucher.code,
        entry.kind,
        entry.amount_cents,
        entry.balance_after_cents,
        entry.voucher.currency,
        entry.order_id,
        entry.order and entry.order.number,
        entry.checkout_id,
        entry.actor,
    )

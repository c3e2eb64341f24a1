from accounts.management.exports import RowsExport
from commerce.formats import timestamp
from discounts.models import VoucherRedemption

_COLUMNS = (
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


class Command(RowsExport):
    help = "Writes the ledger of an account's gift cards as CSV, oldest entry first."
    examples = {
        "export_voucher_redemptions my-shop --output all.csv": "write all to a new file",
        "export_voucher_redemptions my-shop --since 2026-10-01 --until 2026-11-01": "write those of October to standard output",
    }
    model = VoucherRedemption
    related = ("voucher", "order")

    def columns(self) -> tuple[str, ...]:
        return _COLUMNS

    def cells(self, row: VoucherRedemption) -> tuple[object, ...]:
        return (
            row.pk,
            timestamp(row.created_at),
            row.voucher_id,
            row.voucher.code,
            row.kind,
            row.amount_cents,
            row.balance_after_cents,
            row.voucher.currency,
            row.order_id,
            # Issuing needs no order, nor does redeeming by hand.
            row.order and row.order.number,
            row.checkout_id,
            row.actor,
        )

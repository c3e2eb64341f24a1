from accounts.management.exports import RowsExport
from discounts.models import DiscountRedemption


class Command(RowsExport):
    help = "Writes the ledger of an account's discounts as CSV, oldest entry first."
    examples = {
        "export_discount_redemptions my-shop --output all.csv": "write all to a new file",
        "export_discount_redemptions my-shop --since 2026-10-01 --until 2026-11-01": "write those of October to standard output",
    }
    model = DiscountRedemption

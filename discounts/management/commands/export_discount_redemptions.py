from accounts.management.exports import RowsExport
from discounts.models import DiscountRedemption


class Command(RowsExport):
    help = "Writes the ledger of an account's discounts as CSV, oldest entry first."
    model = DiscountRedemption

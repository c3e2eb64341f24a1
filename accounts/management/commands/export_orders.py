from accounts.management.exports import RowsExport
from commerce.orders.models import Order


class Command(RowsExport):
    help = "Writes the orders of an account as CSV, oldest first."
    examples = {
        "export_orders my-shop --output all.csv": "write all to a new file",
        "export_orders my-shop --since 2026-10-01 --until 2026-11-01": "write those of October to standard output",
    }
    model = Order
    time_field = "placed_at"

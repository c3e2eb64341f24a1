from accounts.management.exports import RowsExport
from commerce.orders.models import Order


class Command(RowsExport):
    help = "Writes the orders of an account as CSV, oldest first."
    model = Order
    time_field = "placed_at"

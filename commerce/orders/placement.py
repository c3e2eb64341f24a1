"""Creates orders: the order's row, and its lines copied within the database."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection

from commerce.customers.models import Customer
from commerce.tenancy.instances import insert_rows
from commerce.tenancy.locks import Resource, about_to_lock
from commerce.tenancy.scope import current_account_id
from commerce.tokens import generate_token

from .models import FrozenLine, Order
from .snapshots import AppliedCode

_COLUMNS = [str(field.column) for field in FrozenLine._meta.local_fields]
_COPY_LINES = """
    INSERT INTO order_line_items (account_id, order_id, {targets})
    SELECT account_id, %s, {sources} FROM {table}
     WHERE account_id = %s AND {owner} = %s
     ORDER BY position
"""


def place_order(
    *,
    customer: Customer,
    is_paid: bool,
    discount_codes: Sequence[AppliedCode],
    now: datetime,
    **frozen: Any,
) -> Order:
    """Create an order from what its checkout has frozen. It is numbered, which locks the account's counter."""
    # The column's default takes the number: the account's other completions wait for this transaction from here on.
    about_to_lock(Resource.ORDER_COUNTER)
    order = Order(
        token=generate_token(),
        customer=customer,
        payment_status=Order.PaymentStatus.PAID if is_paid else Order.PaymentStatus.PENDING,
        paid_at=now if is_paid else None,
        placed_at=now,
        # Orders are shown in events, emails and exports, also to those who may not spend the rest of a gift card.
        discount_codes=[applied.mask() for applied in discount_codes],
        **frozen,
    )
    insert_rows([order])
    return order


def copy_lines(
    order: Order, *, source: type[FrozenLine], owner: str, owner_id: int, replaced: Mapping[str, str]
) -> None:
    """Give a new order the lines that its checkout has frozen, without loading them.

    `source` is the model of those lines, and `owner` its column that refers to the checkout. `replaced` maps columns of the
    order's lines to the SQL expressions that they get instead of the column of the same name.
    """
    sql = _COPY_LINES.format(
        targets=", ".join(_COLUMNS),
        sources=", ".join(replaced.get(column, column) for column in _COLUMNS),
        table=source._meta.db_table,
        owner=owner,
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [order.pk, current_account_id(), owner_id])

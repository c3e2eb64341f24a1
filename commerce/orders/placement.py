"""Creates orders: the order's row, and its lines copied within the database."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from commerce.tenancy.instances import compose_insert
from commerce.tenancy.locks import Resource, about_to_lock
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, send
from commerce.tokens import generate_token

from .models import FrozenLine, Order
from .snapshots import AppliedCode

_COLUMNS = [str(field.column) for field in FrozenLine._meta.local_fields]
_INSERT = compose_insert(Order)


class FrozenLines:
    """The lines that a checkout has frozen, for `place_order`, which copies them without loading them.

    `source` is their model, and `owner` its column that refers to the checkout. `replaced` maps columns of the order's
    lines to the SQL expressions that they get instead of the column of the same name.
    """

    def __init__(self, source: type[FrozenLine], owner: str, replaced: Mapping[str, str]) -> None:
        self.place_order = Prepared(f"""
            WITH placed AS ({_INSERT.text} RETURNING {_INSERT.returned}), copied AS (
                INSERT INTO order_line_items (account_id, order_id, {", ".join(_COLUMNS)})
                SELECT l.account_id, placed.id, {", ".join(replaced.get(name, f"l.{name}") for name in _COLUMNS)}
                  FROM placed, {source._meta.db_table} l
                 WHERE l.account_id = %s AND l.{owner} = %s
                 ORDER BY l.position
            )
            SELECT {_INSERT.returned} FROM placed
        """)  # noqa: S608  the columns are constant


def place_order(
    *,
    customer_id: int,
    is_paid: bool,
    discount_codes: Sequence[AppliedCode],
    lines: FrozenLines,
    checkout_id: int,
    now: datetime,
    **frozen: Any,
) -> Order:
    """Create an order and its lines from what its checkout has frozen.

    The INSERT draws its number, which locks the account's counter.
    """
    # The column's default takes the number: the account's other completions wait for this transaction from here on.
    about_to_lock(Resource.ORDER_COUNTER)
    order = Order(
        token=generate_token(),
        customer_id=customer_id,
        checkout_id=checkout_id,
        payment_status=Order.PaymentStatus.PAID if is_paid else Order.PaymentStatus.PENDING,
        paid_at=now if is_paid else None,
        placed_at=now,
        # Orders are shown in events, emails and exports, also to those who may not spend the rest of a gift card.
        discount_codes=[applied.mask() for applied in discount_codes],
        **frozen,
    )
    (placed,) = send(
        lines.place_order.call([_INSERT.encoder.encode([order]), current_account_id(), checkout_id])
    )
    _INSERT.fill_in(order, placed.rows[0])
    return order

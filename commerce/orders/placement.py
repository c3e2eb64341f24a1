"""Creates orders: the order's row, and its lines copied within the database."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from commerce.tenancy.instances import LateText, compose_insert
from commerce.tenancy.locks import Resource, about_to_lock
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, post
from commerce.tokens import generate_token

from .models import FrozenLine, Order
from .snapshots import AppliedCode

_COLUMNS = [str(field.column) for field in FrozenLine._meta.local_fields]
_INSERT = compose_insert(Order, has_id=True)
_NUMBER = "SELECT o.number::text FROM orders o WHERE o.account_id = %s AND o.id = %s"
# The id of an order to place.
NEXT_ID = "nextval('orders_id_seq')"


class FrozenLines:
    """The lines that a checkout has frozen, for `place_order`, which copies them without loading them.

    `source` is their model, and `owner` its column that refers to the checkout. `replaced` maps columns of the order's
    lines to the SQL expressions that they get instead of the column of the same name.
    """

    def __init__(self, source: type[FrozenLine], owner: str, replaced: Mapping[str, str]) -> None:
        self.place_order = Prepared(f"""
            WITH placed AS ({_INSERT.text} RETURNING id)
            INSERT INTO order_line_items (account_id, order_id, {", ".join(_COLUMNS)})
            SELECT l.account_id, placed.id, {", ".join(replaced.get(name, f"l.{name}") for name in _COLUMNS)}
              FROM placed, {source._meta.db_table} l
             WHERE l.account_id = %s AND l.{owner} = %s
             ORDER BY l.position
        """)  # noqa: S608  the columns are constant


def place_order(
    *,
    order_id: int,
    customer_id: int,
    is_paid: bool,
    discount_codes: Sequence[AppliedCode],
    lines: FrozenLines,
    checkout_id: int,
    now: datetime,
    **frozen: Any,
) -> Order:
    """Create an order and its lines from what its checkout has frozen. They are sent with the next message (see `post`).

    The INSERT draws the order's number. `number_of` puts it into what is stored after the order.
    """
    about_to_lock(Resource.ORDER_COUNTER)
    order = Order(
        id=order_id,
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
    # Once this has run, the account's other completions wait for the end of the transaction. What follows is in the same
    # message, so that they don't wait for Python.
    post(lines.place_order.call([_INSERT.encoder.encode([order]), current_account_id(), checkout_id]))
    order._state.adding, order._state.db = False, DEFAULT_DB_ALIAS  # noqa: SLF001  as after `save()`
    # Read from the database if somebody asks.
    del order.number
    return order


def number_of(order: Order, *path: str) -> LateText:
    """The number of an order that `place_order` has just placed, for the JSON of a row that is inserted after it."""
    return LateText(path, _NUMBER, [current_account_id(), order.pk])

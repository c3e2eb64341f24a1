"""Load checkouts, and lock them so that operations on the same checkout wait for each other."""

from dataclasses import dataclass
from datetime import datetime

import orjson
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, QuerySet

from carts.operations import convert_cart, prepare_conversion
from checkouts.lines import list_charged_lines
from checkouts.models import Checkout, CheckoutLineItem, CheckoutPaymentAttempt
from commerce.arrays import IsAnyOf
from commerce.configuration.queries import own_settings_sql
from commerce.errors import NotFound
from commerce.orders.models import Order
from commerce.orders.placement import NEXT_ID
from commerce.payments.connectors import has_gateway
from commerce.queries import get_or_not_found
from commerce.tenancy.instances import Columns
from commerce.tenancy.locks import Resource, about_to_lock
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Call, Prepared, Result, send
from discounts.in_force import may_have_automatic_sql

from .errors import CheckoutExpired, InvalidPhase
from .phases import ALLOWED_PHASES, FINAL_PHASES, OPEN_PHASES, Phase

_FURTHER = {
    "cart_token": "c.token",
    "order_token": "o.token",
    "seller_vat_number": "s.vat_number",
    "seller_name": "s.name",
    "seller_handle": "s.handle",
    "seller_timezone": "s.default_timezone",
}
_COLUMNS = Columns(Checkout, "k", _FURTHER)
_COLUMNS_TO_CHANGE = Columns(
    Checkout, "k", _FURTHER | {"may_have_automatic_discounts": may_have_automatic_sql("k.account_id")}
)
_COLUMNS_TO_COMPLETE = Columns(
    Checkout,
    "k",
    _FURTHER | {"own_settings": own_settings_sql("k.account_id"), "next_order_id": NEXT_ID},
)
_LINE_COLUMNS = Columns(CheckoutLineItem, "l")
_ATTEMPT_COLUMNS = Columns(CheckoutPaymentAttempt, "a")

# The lines as JSON, in the same statement. They are read as they were before a wait for the lock of the checkout, during
# which a discount's share may have changed. Then so has the checkout, and the lines are read again.
_FROZEN_LINES = f"""
    (SELECT json_agg(json_build_array({_LINE_COLUMNS.json_sql}) ORDER BY l.position)
       FROM checkout_line_items l
      WHERE l.account_id = k.account_id AND l.checkout_id = k.id)::text,
    k.xmin = (SELECT seen.xmin FROM checkouts seen WHERE seen.account_id = k.account_id AND seen.id = k.id)
"""  # noqa: S608  the columns are constant
_FIND = """
    SELECT {columns}, {lines}
      FROM checkouts k
      JOIN accounts s ON s.id = k.account_id
      JOIN {carts} c ON c.account_id = k.account_id AND c.id = k.cart_id
      LEFT JOIN orders o ON o.account_id = k.account_id AND o.id = k.order_id
     WHERE k.account_id = %(account_id)s AND k.token = %(token)s
"""
_READ = Prepared(_FIND.format(columns=_COLUMNS.sql, lines=_FROZEN_LINES, carts="carts"), reads=True)
_LOCK = Prepared(
    _FIND.format(columns=_COLUMNS_TO_CHANGE.sql, lines=_FROZEN_LINES, carts="carts")
    + " FOR NO KEY UPDATE OF k"
)
_CONVERT_AND_LOCK = prepare_conversion(
    cart="SELECT k.cart_id FROM checkouts k WHERE k.account_id = %(account_id)s AND k.token = %(token)s",
    following=_FIND.format(columns=_COLUMNS_TO_COMPLETE.sql, lines=_FROZEN_LINES, carts="converted")
    + " FOR NO KEY UPDATE OF k",
)
# A subquery instead of a join: it is run first, and its result is looked up in an index. Where statistics promise few rows,
# a join may be planned as a filter of all rows of the account.
_ID = "SELECT k.id FROM checkouts k WHERE k.account_id = %(account_id)s AND k.token = %(token)s"
_LINES = Prepared(
    f"""
    SELECT {_LINE_COLUMNS.sql}
      FROM checkout_line_items l
     WHERE l.account_id = %(account_id)s AND l.checkout_id = ({_ID})
     ORDER BY l.position
    """,  # noqa: S608  the columns are constant
    reads=True,
)
# Constants, so that the plan may use the index of open checkouts.
_OPEN = ", ".join(f"'{phase.value}'" for phase in OPEN_PHASES)
# Only their ids: most carts have none, and PostgreSQL prepares to read all columns before it knows.
_OPEN_OF_CART = Prepared(
    f"""
    SELECT k.id
      FROM checkouts k
     WHERE k.account_id = %(account_id)s
       AND k.cart_id = (SELECT c.id FROM carts c WHERE c.account_id = %(account_id)s AND c.token = %(token)s)
       AND k.phase IN ({_OPEN})
     ORDER BY k.id
       FOR NO KEY UPDATE OF k
    """  # noqa: S608  the columns are constant
)
_LATEST_ATTEMPT = Prepared(
    f"""
    SELECT {_ATTEMPT_COLUMNS.sql}
      FROM checkout_payment_attempts a
     WHERE a.account_id = %(account_id)s AND a.checkout_id = ({_ID})
     ORDER BY a.id DESC
     LIMIT 1
    """,  # noqa: S608  the columns are constant
    reads=True,
)


@dataclass(frozen=True, slots=True)
class LoadedCheckout:
    """A checkout with its frozen lines by position; `is_replayed` if the same request was made before."""

    checkout: Checkout
    lines: list[CheckoutLineItem]
    is_replayed: bool = False

    @property
    def charged_lines(self) -> list[CheckoutLineItem]:
        return list_charged_lines(self.checkout, self.lines)


def get_checkout(token: str) -> LoadedCheckout:
    """Load the checkout with this token in the account in scope, with its lines; raises `NotFound`."""
    (found,) = send(_READ.call(_identify(token)))
    return _load(found, token)


def lock_checkout(token: str) -> LoadedCheckout:
    """Load the checkout, locked until the end of the transaction; raises `NotFound`."""
    about_to_lock(Resource.CHECKOUT)
    (found,) = send(_LOCK.call(_identify(token)))
    return _load(found, token, _COLUMNS_TO_CHANGE)


def lock_with_attempt(token: str) -> tuple[LoadedCheckout, CheckoutPaymentAttempt | None]:
    """Like `lock_checkout`, with the latest payment attempt."""
    about_to_lock(Resource.CHECKOUT)
    which = _identify(token)
    found, attempts = send(_LOCK.call(which), _LATEST_ATTEMPT.call(which))
    return _load(found, token, _COLUMNS_TO_CHANGE), next(iter(_ATTEMPT_COLUMNS.read(attempts.rows)), None)


def open_checkouts_query(cart_token: str) -> Call:
    """Ask for the open checkouts of a cart, and lock them. The caller announces the lock."""
    return _OPEN_OF_CART.call(_identify(cart_token))


def load_open_checkouts(found: Result) -> list[Checkout]:
    """Load the checkouts that `open_checkouts_query` has found, in order of id."""
    ids = [id_ for (id_,) in found.rows]
    return list(Checkout.objects.filter(pk__in=ids).order_by("pk")) if ids else []


def lock_and_convert_cart(token: str, *, now: datetime) -> LoadedCheckout:
    """Like `lock_checkout`, and mark the cart as ordered, which locks it before the checkout.

    The checkout also has its account's `own_settings`, and an id for its order. The caller rolls the mark back if the
    checkout isn't completed. Of a completed one, the order's token may be missing.
    """
    found = convert_cart(_CONVERT_AND_LOCK, then_locks=Resource.CHECKOUT, now=now, token=token)
    return _load(found, token, _COLUMNS_TO_COMPLETE)


def lock_checkout_for(operation: str, token: str, *, now: datetime) -> LoadedCheckout:
    """Lock the checkout, and check that its phase allows the operation.

    Raises `NotFound`, `CheckoutExpired` and `InvalidPhase`.
    """
    loaded = lock_checkout(token)
    require_phase(loaded.checkout, operation, now=now)
    return loaded


def require_phase(checkout: Checkout, operation: str, *, now: datetime) -> None:
    if effective_phase(checkout, now=now) == Phase.ABANDONED:
        raise CheckoutExpired
    allowed = ALLOWED_PHASES[operation]
    if checkout.phase not in allowed:
        raise InvalidPhase(phase=checkout.phase, allowed=[phase.value for phase in allowed])


def effective_phase(checkout: Checkout, *, now: datetime) -> str:
    """Return the phase to show: an overdue checkout is abandoned, even before the sweeper handles it.

    Not if it is paid, or its payment is at a gateway and may be paid there: the sweeper asks the gateway first.
    """
    is_open = checkout.phase not in FINAL_PHASES
    # Nothing is stored here: a GET writes nothing, and the sweeper stores it later.
    may_be_paid = checkout.ready_to_complete or is_at_gateway(checkout)
    if is_open and checkout.expires_at <= now and not may_be_paid:
        return Phase.ABANDONED
    return checkout.phase


def is_at_gateway(checkout: Checkout) -> bool:
    """Whether a gateway is taking, or has taken, the money for the checkout."""
    if checkout.phase != Phase.PROCESSING or checkout.amount_due_cents == 0:
        return False
    if checkout.uses_gateway is not None:
        return checkout.uses_gateway
    # Started by a process of an earlier release.
    return has_gateway(checkout.payment_method)


def payments(
    *,
    checkout_id: int | None = None,
    order_id: int | None = None,
    payment_method: str | None = None,
    status: str | None = None,
) -> QuerySet[CheckoutPaymentAttempt]:
    """Return payment attempts, each with the `order_id` of its checkout."""
    wanted = {"checkout_id": checkout_id, "payment_method": payment_method, "status": status}
    filters = {name: value for name, value in wanted.items() if value is not None}
    found = CheckoutPaymentAttempt.objects.filter(**filters).annotate(order_id=F("checkout__order_id"))
    if order_id is None:
        return found
    # By the order's checkout: checkouts have no index by their orders.
    checkout_ids = Order.objects.filter(pk=order_id).values("checkout_id")
    return found.filter(IsAnyOf(F("checkout_id"), ArraySubquery(checkout_ids)))


def get_payment(payment_id: int) -> CheckoutPaymentAttempt:
    """Return a payment attempt; raises `NotFound`."""
    return get_or_not_found(payments(), pk=payment_id)


def _identify(token: str) -> dict[str, object]:
    return {"account_id": current_account_id(), "token": token}


def _load(found: Result, token: str, columns: Columns[Checkout] = _COLUMNS) -> LoadedCheckout:
    if not found.rows:
        raise NotFound
    *values, lines, are_current = found.rows[0]
    (checkout,) = columns.read([values])
    rows = orjson.loads(lines) if lines else []
    if not are_current:
        (reread,) = send(_LINES.call(_identify(token)))
        rows = reread.rows
        # A discount may have been activated during the wait as well.
        checkout.may_have_automatic_discounts = True
    return LoadedCheckout(checkout, _LINE_COLUMNS.read(rows))

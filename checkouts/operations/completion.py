"""Complete a checkout: order, stock, cart, event and the confirmation email's dispatch, in one transaction, once."""

from datetime import datetime
from typing import Any

from django.db import connection

from accounts.queries import current_account
from checkouts.errors import CheckoutAlreadyCompleted, CheckoutExpired, PaymentNotConfirmed
from checkouts.lines import UNTAXED, charged_lines
from checkouts.models import Checkout
from checkouts.phases import Phase
from checkouts.queries import LoadedCheckout, lines_of, lock_checkout, require_phase
from checkouts.totals import AMOUNTS
from commerce.customers.models import Customer
from commerce.customers.operations import record_purchase, resolve_customer
from commerce.errors import NotFound
from commerce.events.operations import publish_many
from commerce.inventory.reservations import commit
from commerce.orders.models import FrozenLine, Order
from commerce.orders.notifications import enqueue_confirmation
from commerce.orders.operations import event_data as order_event_data
from commerce.payments.connectors import has_gateway
from commerce.tenancy.scope import current_account_id
from commerce.tokens import opaque_token

from .holds import lock_gift_cards, redeem_holds

_COPIED = (
    "market_id",
    "email",
    "currency",
    "locale",
    "prices_include_tax",
    "shipping_address",
    "shipping_method",
    "pickup_point",
    "payment_method",
    "discount_codes",
    "automatic_discounts",
    "vat",
    "customer_note",
    "utm",
    "referrer",
    *AMOUNTS,
)
# A merged cart stays merged: its checkout's frozen lines are bought nevertheless.
_CONVERT_CART = """
    UPDATE carts SET status = CASE status WHEN 'merged' THEN status ELSE 'converted' END,
                     updated_at = CASE status WHEN 'active' THEN %s ELSE updated_at END
     WHERE account_id = %s
       AND id = (SELECT k.cart_id FROM checkouts k WHERE k.account_id = %s AND k.token = %s)
"""
_LINE_COLUMNS = [str(field.column) for field in FrozenLine._meta.local_fields]
_COPY_LINES = f"""
    INSERT INTO order_line_items (account_id, order_id, {", ".join(_LINE_COLUMNS)})
    SELECT account_id, %s, {{sources}} FROM checkout_line_items
     WHERE account_id = %s AND checkout_id = %s
     ORDER BY position
"""  # noqa: S608  the columns are the model's own
_COPY_FROZEN_LINES = _COPY_LINES.format(sources=", ".join(_LINE_COLUMNS))
_COPY_UNTAXED_LINES = _COPY_LINES.format(
    sources=", ".join(UNTAXED.get(column, column) for column in _LINE_COLUMNS)
)


def complete_checkout(*, token: str, now: datetime, key: str | None = None) -> LoadedCheckout:
    """Turn a paid checkout into an order. Repeating the call with the same `key` returns that order for ever.

    Stock, discounts and gift cards were held before the payment, so nothing can run out here. Raises `NotFound`,
    `CheckoutAlreadyCompleted`, `CheckoutExpired`, `InvalidPhase`, `PaymentNotConfirmed`, and `IdempotencyKeyReused`
    from the unique constraint.
    """
    checkout = _lock(token, now=now)
    if checkout.phase == Phase.COMPLETED:
        return _replay_completion(checkout, key)
    _require_ready(checkout, now=now)
    checkout.completion_key = key
    lines = lines_of(checkout)
    customer = _resolve_customer(checkout, now=now)
    lock_gift_cards(checkout)
    commit(checkout_id=checkout.pk)
    account = current_account()
    # Late, because numbering the order locks the account's counter until the commit.
    order = _place_order(checkout, customer, now=now)
    _copy_lines(checkout, order)
    redemptions = redeem_holds(checkout, order, now=now)
    _close(checkout, order, now=now)
    occurrences = [*redemptions, ("checkout.completed", _event_data(checkout, order))]
    if order.payment_status == Order.PaymentStatus.PAID:
        occurrences.append(("order.paid", order_event_data(order)))
    publish_many(occurrences=occurrences, now=now)
    shown = {"name": account.name, "handle": account.handle, "timezone": account.default_timezone}
    enqueue_confirmation(order, charged_lines(checkout, lines), account=shown, now=now)
    return LoadedCheckout(checkout, lines)


def _lock(token: str, *, now: datetime) -> Checkout:
    """Lock the cart, then the checkout: the same order as in entering checkout.

    The lock comes from converting the cart. If the checkout doesn't complete, the conversion is rolled back.
    """
    account_id = current_account_id()
    with connection.cursor() as cursor:
        cursor.execute(_CONVERT_CART, [now, account_id, account_id, token])
        if not cursor.rowcount:
            raise NotFound
    return lock_checkout(token)


def _replay_completion(checkout: Checkout, key: str | None) -> LoadedCheckout:
    """Return a completed checkout if the key completed it; raises `CheckoutAlreadyCompleted` for any other key.

    The sweeper completes without a key; then the first key of a returning customer is stored.
    """
    is_replayed = key is not None and key == checkout.completion_key
    if not is_replayed:
        if key is None or checkout.completion_key is not None:
            raise CheckoutAlreadyCompleted(order_id=checkout.order_id)
        checkout.completion_key = key
        checkout.save(update_fields=["completion_key"])
    return LoadedCheckout(checkout, lines_of(checkout), is_replayed)


def _require_ready(checkout: Checkout, *, now: datetime) -> None:
    if checkout.phase == Phase.ABANDONED:
        raise CheckoutExpired
    require_phase(checkout, "complete", now=now)
    if not checkout.ready_to_complete:
        raise PaymentNotConfirmed


def _resolve_customer(checkout: Checkout, *, now: datetime) -> Customer:
    address = checkout.shipping_address or {}
    customer = resolve_customer(
        email=checkout.email,
        customer_id=checkout.customer_id,
        first_name=address.get("first_name", ""),
        last_name=address.get("last_name", ""),
        phone=address.get("phone", ""),
        locale=checkout.locale,
        country_code=address.get("country_code"),
        now=now,
    )
    record_purchase(customer_id=customer.pk, total_cents=checkout.total_cents, now=now)
    return customer


def _place_order(checkout: Checkout, customer: Customer, *, now: datetime) -> Order:
    is_paid = checkout.amount_due_cents == 0 or has_gateway(checkout.payment_method)
    return Order.objects.create(
        token=opaque_token(),
        checkout_id=checkout.pk,
        customer=customer,
        billing_address=checkout.shipping_address if checkout.same_as_shipping else checkout.billing_address,
        payment_status=Order.PaymentStatus.PAID if is_paid else Order.PaymentStatus.PENDING,
        paid_at=now if is_paid else None,
        placed_at=now,
        **{name: getattr(checkout, name) for name in _COPIED},
    )


def _copy_lines(checkout: Checkout, order: Order) -> None:
    sql = _COPY_UNTAXED_LINES if checkout.is_reverse_charge else _COPY_FROZEN_LINES
    with connection.cursor() as cursor:
        cursor.execute(sql, [order.pk, current_account_id(), checkout.pk])


def _close(checkout: Checkout, order: Order, *, now: datetime) -> None:
    checkout.customer_id = order.customer_id
    checkout.order = order
    checkout.order_token = order.token
    checkout.phase = Phase.COMPLETED
    checkout.completed_at = now
    checkout.save(
        update_fields=["customer", "order", "phase", "completed_at", "completion_key", "updated_at"]
    )


def _event_data(checkout: Checkout, order: Order) -> dict[str, Any]:
    return {
        "checkout_id": checkout.pk,
        "checkout_token": checkout.token,
        "order_id": order.pk,
        "order_number": order.number,
        "cart_id": checkout.cart_id,
        "customer_id": order.customer_id,
        "email": order.email,
        "market_id": order.market_id,
        "currency": order.currency,
        "total_cents": order.total_cents,
        "discount_codes": order.discount_codes,
    }

"""Complete a checkout: order, stock, cart, event and the confirmation email's dispatch, in one transaction, once."""

from dataclasses import replace
from datetime import datetime

from checkouts.errors import CheckoutAlreadyCompleted, PaymentNotConfirmed
from checkouts.lines import write_untaxed_columns
from checkouts.models import Checkout, CheckoutLineItem
from checkouts.phases import Phase
from checkouts.queries import (
    LoadedCheckout,
    get_checkout,
    is_at_gateway,
    lock_and_convert_cart,
    require_phase,
)
from checkouts.totals import AMOUNTS
from commerce.configuration.queries import parse_own_settings
from commerce.customers.operations import record_purchase
from commerce.events.operations import publish_many
from commerce.inventory.reservations import commit
from commerce.orders.models import Order
from commerce.orders.notifications import enqueue_confirmation
from commerce.orders.operations import make_event_data as make_order_event_data
from commerce.orders.placement import FrozenLines, number_of, place_order
from commerce.rest.errors import IdempotencyKeyReused
from commerce.tenancy.instances import post_columns

from .holds import lock_gift_cards, redeem_holds

_COPIED_COLUMNS = (
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
_COMPLETED_COLUMNS = (
    "customer",
    "order",
    "phase",
    "completed_at",
    "completion_key",
    "completion_body",
    "discount_codes",
    "updated_at",
)
_LINES = FrozenLines(CheckoutLineItem, "checkout_id", {})
_UNTAXED_LINES = FrozenLines(CheckoutLineItem, "checkout_id", write_untaxed_columns(table="l"))


def complete_checkout(
    *, token: str, now: datetime, key: str | None = None, body: str | None = None
) -> LoadedCheckout:
    """Turn a paid checkout into an order. Repeating the call with the same `key` always returns that order.

    `body` is the hash of the request's body, which has to be the same. Stock, discounts and gift cards were held before
    the payment, so nothing can run out here. Raises `NotFound`, `CheckoutAlreadyCompleted`, `CheckoutExpired`,
    `InvalidPhase`, `PaymentNotConfirmed` and `IdempotencyKeyReused`. If the key completed another checkout, the unique
    constraint raises the last one when the transaction ends.
    """
    # The cart is locked before the checkout, as when a checkout is created.
    loaded = lock_and_convert_cart(token, now=now)
    checkout = loaded.checkout
    if checkout.phase == Phase.COMPLETED:
        return _replay_completion(checkout, key, body)
    require_phase(checkout, "complete", now=now)
    if not checkout.ready_to_complete:
        raise PaymentNotConfirmed
    checkout.completion_key, checkout.completion_body = key, body
    customer_id = _record_purchase(checkout, now=now)
    # Charged after the order has a number, but locked before: the order counter is the last lock.
    lock_gift_cards(checkout)
    commit(checkout_id=checkout.pk)
    # Numbering the order locks the account's counter until the commit. So everything from here on is one message with it,
    # unless gift cards are charged.
    order = _place_order(checkout, customer_id, now=now)
    redemptions = redeem_holds(checkout, order, now=now)
    _save_completed(checkout, order, now=now)
    occurrences = [*redemptions, ("checkout.completed", _make_event_data(checkout, order))]
    if order.payment_status == Order.PaymentStatus.PAID:
        occurrences.append(("order.paid", make_order_event_data(order, has_number=False)))
    publish_many(occurrences=occurrences, now=now, late=number_of(order, "order_number"))
    # Only enqueued, so that a slow email provider delays no order.
    shown = {
        "name": checkout.seller_name,
        "handle": checkout.seller_handle,
        "timezone": checkout.seller_timezone,
    }
    enqueue_confirmation(
        order,
        loaded.charged_lines,
        account=shown,
        own_settings=parse_own_settings(checkout.own_settings),
        now=now,
    )
    return loaded


def _replay_completion(checkout: Checkout, key: str | None, body: str | None) -> LoadedCheckout:
    """Return a completed checkout if the key completed it; raises `CheckoutAlreadyCompleted` for any other key.

    The sweeper completes without a key; then the first key of a returning customer is stored. Raises
    `IdempotencyKeyReused` if the key came with another body.
    """
    is_replayed = key is not None and key == checkout.completion_key
    if not is_replayed:
        if key is None or checkout.completion_key is not None:
            raise CheckoutAlreadyCompleted(order_id=checkout.order_id)
        checkout.completion_key, checkout.completion_body = key, body
        post_columns(checkout, ["completion_key", "completion_body"])
    elif checkout.completion_body not in (None, body):
        raise IdempotencyKeyReused
    # Read again: the order may have been placed while this request waited for the lock, after the row was read.
    return replace(get_checkout(checkout.token), is_replayed=is_replayed)


def _record_purchase(checkout: Checkout, *, now: datetime) -> int:
    """Count the order among its customer's, and return the customer's id."""
    address = checkout.shipping_address or {}
    return record_purchase(
        email=checkout.email,
        customer_id=checkout.customer_id,
        first_name=address.get("first_name", ""),
        last_name=address.get("last_name", ""),
        phone=address.get("phone", ""),
        locale=checkout.locale,
        country_code=address.get("country_code"),
        now=now,
    )


def _place_order(checkout: Checkout, customer_id: int, *, now: datetime) -> Order:
    return place_order(
        order_id=checkout.next_order_id,
        customer_id=customer_id,
        # Without a gateway, a confirmed payment means that the money comes on or after delivery.
        is_paid=checkout.amount_due_cents == 0 or is_at_gateway(checkout),
        now=now,
        checkout_id=checkout.pk,
        lines=_UNTAXED_LINES if checkout.is_reverse_charge else _LINES,
        billing_address=checkout.shipping_address if checkout.same_as_shipping else checkout.billing_address,
        **{name: getattr(checkout, name) for name in _COPIED_COLUMNS},
    )


def _save_completed(checkout: Checkout, order: Order, *, now: datetime) -> None:
    checkout.customer_id = order.customer_id
    checkout.order = order
    checkout.order_token = order.token
    # The order has only the end of a gift card's code.
    checkout.discount_codes = order.discount_codes
    checkout.phase = Phase.COMPLETED
    checkout.completed_at = now
    post_columns(checkout, _COMPLETED_COLUMNS)


def _make_event_data(checkout: Checkout, order: Order) -> dict[str, object]:
    return {
        "checkout_id": checkout.pk,
        "checkout_token": checkout.token,
        "order_id": order.pk,
        # Put in when the event is stored.
        "order_number": None,
        "cart_id": checkout.cart_id,
        "customer_id": order.customer_id,
        "email": order.email,
        "market_id": order.market_id,
        "currency": order.currency,
        "total_cents": order.total_cents,
        "discount_codes": order.discount_codes,
    }

"""Complete a checkout: order, stock, cart, event and the confirmation email's dispatch, in one transaction, once."""

from datetime import datetime

from accounts.queries import current_account
from carts.operations import convert_cart
from checkouts.errors import CheckoutAlreadyCompleted, PaymentNotConfirmed
from checkouts.lines import list_charged_lines, untaxed_columns
from checkouts.models import Checkout, CheckoutLineItem
from checkouts.phases import Phase
from checkouts.queries import LoadedCheckout, is_at_gateway, load_lines, lock_checkout, require_phase
from checkouts.totals import AMOUNTS
from commerce.customers.models import Customer
from commerce.customers.operations import record_purchase, resolve_customer
from commerce.events.operations import publish_many
from commerce.inventory.reservations import commit
from commerce.orders.models import Order
from commerce.orders.notifications import enqueue_confirmation
from commerce.orders.operations import make_event_data as make_order_event_data
from commerce.orders.placement import copy_lines, place_order
from commerce.tenancy.instances import update_columns
from commerce.tenancy.scope import current_account_id

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
_CART = "SELECT k.cart_id FROM checkouts k WHERE k.account_id = %s AND k.token = %s"


def complete_checkout(*, token: str, now: datetime, key: str | None = None) -> LoadedCheckout:
    """Turn a paid checkout into an order. Repeating the call with the same `key` returns that order for ever.

    Stock, discounts and gift cards were held before the payment, so nothing can run out here. Raises `NotFound`,
    `CheckoutAlreadyCompleted`, `CheckoutExpired`, `InvalidPhase`, `PaymentNotConfirmed`, and `IdempotencyKeyReused`
    from the unique constraint.
    """
    # The cart is locked before the checkout, as when a checkout is created. The lock comes from converting the cart,
    # which is rolled back if the checkout doesn't complete.
    convert_cart(subquery=_CART, parameters=[current_account_id(), token], now=now)
    checkout = lock_checkout(token)
    if checkout.phase == Phase.COMPLETED:
        return _replay_completion(checkout, key)
    require_phase(checkout, "complete", now=now)
    if not checkout.ready_to_complete:
        raise PaymentNotConfirmed
    checkout.completion_key = key
    lines = load_lines(checkout)
    customer = _resolve_customer(checkout, now=now)
    # Charged after the order has a number, but locked before: the order counter is the last lock.
    lock_gift_cards(checkout)
    commit(checkout_id=checkout.pk)
    account = current_account()
    # Late, because numbering the order locks the account's counter until the commit.
    order = _place_order(checkout, customer, now=now)
    untaxed = untaxed_columns() if checkout.is_reverse_charge else {}
    copy_lines(order, source=CheckoutLineItem, owner="checkout_id", owner_id=checkout.pk, replaced=untaxed)
    redemptions = redeem_holds(checkout, order, now=now)
    _save_completed(checkout, order, now=now)
    occurrences = [*redemptions, ("checkout.completed", _event_data(checkout, order))]
    if order.payment_status == Order.PaymentStatus.PAID:
        occurrences.append(("order.paid", make_order_event_data(order)))
    publish_many(occurrences=occurrences, now=now)
    # Only enqueued, so that a slow email provider delays no order.
    shown = {"name": account.name, "handle": account.handle, "timezone": account.default_timezone}
    enqueue_confirmation(order, list_charged_lines(checkout, lines), account=shown, now=now)
    return LoadedCheckout(checkout, lines)


def _replay_completion(checkout: Checkout, key: str | None) -> LoadedCheckout:
    """Return a completed checkout if the key completed it; raises `CheckoutAlreadyCompleted` for any other key.

    The sweeper completes without a key; then the first key of a returning customer is stored.
    """
    is_replayed = key is not None and key == checkout.completion_key
    if not is_replayed:
        if key is None or checkout.completion_key is not None:
            raise CheckoutAlreadyCompleted(order_id=checkout.order_id)
        checkout.completion_key = key
        update_columns(checkout, ["completion_key"])
    return LoadedCheckout(checkout, load_lines(checkout), is_replayed)


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
    record_purchase(customer_id=customer.pk, now=now)
    return customer


def _place_order(checkout: Checkout, customer: Customer, *, now: datetime) -> Order:
    return place_order(
        customer=customer,
        # Without a gateway, a confirmed payment means that the money comes on or after delivery.
        is_paid=checkout.amount_due_cents == 0 or is_at_gateway(checkout),
        now=now,
        checkout_id=checkout.pk,
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
    columns = ["customer", "order", "phase", "completed_at", "completion_key", "discount_codes", "updated_at"]
    update_columns(checkout, columns)


def _event_data(checkout: Checkout, order: Order) -> dict[str, object]:
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

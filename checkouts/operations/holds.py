"""Discounts, gift cards and stock: held before a payment starts, released if it fails, used up by the order.

They are locked in the order of commerce/tenancy/locks.py: stock comes last, as most checkouts wait for it.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from checkouts.models import Checkout, CheckoutLineItem
from commerce.inventory.reservations import release, reserve
from commerce.orders.models import Order
from discounts.uses import Use, hold_uses, is_any_spent, redeem_uses, release_uses
from discounts.vouchers.holds import capture_holds, hold_vouchers, lock_held, release_holds
from discounts.vouchers.occurrences import Occurrence


def count_units(lines: Sequence[CheckoutLineItem]) -> dict[int, int]:
    """Count the units per variant: lines of one variant with different attributes share its stock."""
    units: Counter[int] = Counter()
    for line in lines:
        units[line.variant_id] += line.quantity
    return dict(units)


def hold_scarce(checkout: Checkout, lines: Sequence[CheckoutLineItem], *, now: datetime) -> None:
    """Hold discounts, gift cards and stock for a payment that is about to start: all of them, or none.

    Raises `DiscountExhausted`, `InsufficientBalanceHeld`, `VoucherNotActive` and `InsufficientInventory`.
    """
    hold_uses(
        _list_uses(checkout),
        checkout_id=checkout.pk,
        customer_id=checkout.customer_id,
        email=checkout.email,
        currency=checkout.currency,
    )
    amounts = _list_gift_card_amounts(checkout)
    if amounts:
        hold_vouchers(checkout_id=checkout.pk, amounts=amounts, now=now)
    # Depending on `commerce.checkout.reserve_at`, the stock is reserved since the checkout was created.
    if not checkout.is_stock_reserved:
        reserve(checkout_id=checkout.pk, wanted=count_units(lines), now=now)
        checkout.is_stock_reserved = True


def has_spent_discount(checkout: Checkout) -> bool:
    """Whether a discount of a checkout that isn't being paid has run out, so that a payment couldn't start."""
    return is_any_spent(
        _list_uses(checkout),
        checkout_id=checkout.pk,
        customer_id=checkout.customer_id,
        email=checkout.email,
    )


def release_payment_holds(checkouts: Sequence[Checkout]) -> None:
    """Release the discounts and gift cards that the payments of these checkouts held."""
    # Most checkouts use neither, and then no statement is sent.
    with_uses = [checkout.pk for checkout in checkouts if _list_uses(checkout)]
    if with_uses:
        release_uses(checkout_ids=with_uses)
    with_gift_cards = [checkout.pk for checkout in checkouts if _list_gift_card_amounts(checkout)]
    if with_gift_cards:
        release_holds(checkout_ids=with_gift_cards)


def release_scarce(checkout: Checkout, *, keeps_stock: bool) -> None:
    """Undo `hold_scarce`; the caller saves the checkout. With `keeps_stock`, reserved stock stays reserved."""
    release_payment_holds([checkout])
    if not keeps_stock:
        release(checkout_ids=[checkout.pk])
        checkout.is_stock_reserved = False


def lock_gift_cards(checkout: Checkout) -> None:
    """Lock a checkout's gift cards. Must precede numbering the order, which makes other checkouts wait."""
    if _list_gift_card_amounts(checkout):
        lock_held(checkout_ids=[checkout.pk])


def redeem_holds(checkout: Checkout, order: Order, *, now: datetime) -> list[Occurrence]:
    """Book the held discounts and gift cards in their ledgers, for the order. Returns the events to publish."""
    if _list_uses(checkout):
        redeem_uses(checkout_id=checkout.pk, order_id=order.pk, customer_id=order.customer_id)
    if not _list_gift_card_amounts(checkout):
        return []
    return capture_holds(checkout_id=checkout.pk, order_id=order.pk, actor=f"checkout:{checkout.pk}", now=now)


def _list_uses(checkout: Checkout) -> list[Use]:
    """Return the uses of discounts. A code that takes nothing off isn't used."""
    by_code = [
        Use(applied.discount_id, applied.code, applied.amount_cents)
        for applied in checkout.discount_codes
        if applied.discount_id is not None and applied.amount_cents
    ]
    automatic = [
        Use(applied.discount_id, None, applied.amount_cents)
        for applied in checkout.automatic_discounts
        if applied.amount_cents
    ]
    return by_code + automatic


def _list_gift_card_amounts(checkout: Checkout) -> dict[int, int]:
    return {
        applied.voucher_id: applied.amount_cents
        for applied in checkout.discount_codes
        if applied.voucher_id is not None and applied.amount_cents
    }

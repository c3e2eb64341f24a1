"""Codes that a shopper enters: discounts, and gift cards that pay part of the total."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db.models import Q

from carts.errors import CurrencyMismatch
from checkouts.models import Checkout
from checkouts.phases import OPEN_PHASES
from checkouts.queries import LoadedCheckout, lock_checkout_for
from commerce.errors import Refusal
from commerce.formats import text_id
from commerce.orders.snapshots import AppliedCode
from commerce.tenancy.instances import post_columns
from discounts import errors
from discounts.evaluation import Basket, Reason, Rule, Shopper, combine, evaluate, find_obstacle
from discounts.in_force import find_rule_by_code, load_rules_in_force
from discounts.in_use import register_entered_check
from discounts.models import Discount
from discounts.rules import is_same_code, normalise_code
from discounts.shoppers import load_shopper
from discounts.vouchers.codes import parse_voucher_code
from discounts.vouchers.holds import find_usable_voucher
from discounts.vouchers.queries import is_voucher_code

from .discounting import build_basket, list_entered_ids
from .pricing import PRICED, reprice

_REFUSALS: dict[str, type[Refusal]] = {
    refusal.code: refusal
    for refusal in (
        errors.DiscountNotActive,
        errors.DiscountNotStarted,
        errors.DiscountExpired,
        errors.MarketMismatch,
        errors.CustomerNotEligible,
        errors.MinimumNotMet,
        errors.UsageLimitReached,
        errors.CustomerUsageLimitReached,
        CurrencyMismatch,
    )
}


@register_entered_check
def is_entered(discount_id: int) -> bool:
    """Whether the discount's code is entered in an open checkout."""
    is_named = Q(discount_codes__contains=[{"discount_id": discount_id}])
    # Processes of the previous release still write the id as text during a deployment.
    is_named |= Q(discount_codes__contains=[{"discount_id": text_id(discount_id)}])
    return Checkout.objects.filter(is_named, phase__in=OPEN_PHASES).exists()


def apply_code(*, token: str, code: str, now: datetime) -> LoadedCheckout:
    """Add a discount's or gift card's code. Adding the same code again changes nothing.

    The checkout shows a code as it was entered. If the discount has got a new code since, entering that one updates
    the shown code. If another discount has the old code now, entering it replaces the old entry.

    Raises the refusals of discounts/errors.py, and whatever `find_usable_voucher` and `lock_checkout_for` raise.
    """
    loaded = lock_checkout_for("discount", token, now=now)
    rule = find_rule_by_code(code)
    # An archived discount has given up its code, so a gift card with the same one comes first. Without one, the refusal
    # says that the discount isn't active.
    if rule is not None and not (rule.status == Discount.Status.ARCHIVED and is_voucher_code(code)):
        _enter_discount(loaded, rule, now=now)
        return _reprice_and_save(loaded, known=[rule], now=now)
    checkout = loaded.checkout
    card = find_usable_voucher(code=code, currency=checkout.currency, now=now)
    if card is None:
        raise errors.DiscountNotFound
    if card.id not in [applied.voucher_id for applied in checkout.discount_codes]:
        added = AppliedCode(code=card.code, discount_id=None, voucher_id=card.id, type="gift_card")
        checkout.discount_codes = [*checkout.discount_codes, added]
    return _reprice_and_save(loaded, now=now)


def remove_code(*, token: str, code: str, now: datetime) -> LoadedCheckout:
    """Remove a code, given as shown. Raises `DiscountNotApplied`, and whatever `lock_checkout_for` raises."""
    loaded = lock_checkout_for("discount", token, now=now)
    removed = _find_applied(code, loaded.checkout)
    if removed is None:
        raise errors.DiscountNotApplied
    # Nothing has to be released: codes can't be removed once the payment, which holds uses, may start.
    loaded.checkout.discount_codes = [
        applied for applied in loaded.checkout.discount_codes if applied is not removed
    ]
    return _reprice_and_save(loaded, now=now)


def _find_applied(code: str, checkout: Checkout) -> AppliedCode | None:
    """Find the applied code with this text. A gift card's code may be typed in any form."""
    text, card_code = normalise_code(code), parse_voucher_code(code)
    codes = checkout.discount_codes
    shown = (applied for applied in codes if is_same_code(applied.code, text))
    cards = (applied for applied in codes if applied.voucher_id is not None and applied.code == card_code)
    return next(shown, None) or next(cards, None)


def _reprice_and_save(loaded: LoadedCheckout, *, known: Sequence[Rule] = (), now: datetime) -> LoadedCheckout:
    reprice(loaded.checkout, loaded.lines, known=known, now=now)
    post_columns(loaded.checkout, [*PRICED, "updated_at"])
    return loaded


def _enter_discount(loaded: LoadedCheckout, rule: Rule, *, now: datetime) -> None:
    checkout = loaded.checkout
    entered_ids = list_entered_ids(checkout)
    if rule.id in entered_ids:
        _show_code(checkout, rule)
        return
    shopper = load_shopper(
        [rule], customer_id=checkout.customer_id, email=checkout.email, checkout_id=checkout.pk
    )
    _require_applicable(rule, build_basket(checkout, loaded.lines), shopper, now=now)
    # The codes are combined by the discounts' current settings: one that stacked when it was entered may not any more.
    others = load_rules_in_force(entered_ids=entered_ids, now=now)[1] if entered_ids else []
    kept_ids = {kept.id for kept in combine(others, rule)}
    checkout.discount_codes = [
        applied
        for applied in checkout.discount_codes
        if applied.discount_id is None or applied.discount_id in kept_ids
    ]
    added = AppliedCode(code=rule.code or "", discount_id=rule.id, voucher_id=None, type=rule.type)
    checkout.discount_codes = [*checkout.discount_codes, added]
    _show_code(checkout, rule)


def _show_code(checkout: Checkout, rule: Rule) -> None:
    """Show an entered discount by its current code, and remove other entries with this code."""
    code = rule.code or ""
    checkout.discount_codes = [
        replace(applied, code=code) if applied.discount_id == rule.id else applied
        for applied in checkout.discount_codes
        if applied.discount_id == rule.id or not is_same_code(applied.code, code)
    ]


def _require_applicable(rule: Rule, basket: Basket, shopper: Shopper, *, now: datetime) -> None:
    obstacle = find_obstacle(rule, basket, shopper=shopper, now=now)
    if obstacle is not None:
        raise _REFUSALS[obstacle.reason](obstacle.detail)
    alone = evaluate(basket, automatic=(), entered=(rule,), shopper=shopper, now=now)
    # A shipping discount may apply once a method is chosen, so it is accepted. One without eligible lines never will.
    if alone.trace[0].reason == Reason.NOTHING_TO_DISCOUNT:
        raise errors.DiscountNotApplicable

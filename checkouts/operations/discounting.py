"""Applies discounts and gift cards to a checkout and its lines."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from checkouts.lines import list_charged_lines
from checkouts.models import Checkout, CheckoutLineItem
from commerce.orders.snapshots import AutomaticDiscount
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, post
from discounts.evaluation import Basket, Evaluation, Line, Rule, evaluate
from discounts.in_force import load_rules_in_force
from discounts.shoppers import load_shopper
from discounts.vouchers.holds import load_vouchers_in_currency

# By the checkout: joined with `unnest` instead, the plan for an average shop would read all lines of a large one.
_SAVE_LINES = Prepared("""
    UPDATE checkout_line_items
       SET discount_cents = (%(shares)s::bigint[])[array_position(%(ids)s::bigint[], id)]
     WHERE account_id = %(account_id)s AND checkout_id = %(checkout_id)s AND id = ANY(%(ids)s::bigint[])
""")


def apply_discounts(
    checkout: Checkout,
    lines: Sequence[CheckoutLineItem],
    *,
    shipping_cents: int | None,
    known: Sequence[Rule] = (),
    now: datetime,
) -> None:
    """Evaluate all discounts again. Saves the lines' shares of the discounts; the caller saves the checkout.

    `known` rules of entered discounts, which this transaction has locked, needn't be read again.
    """
    automatic, entered = _find_rules(checkout, known, now=now)
    rules = [*automatic, *entered]
    shopper = load_shopper(
        rules, customer_id=checkout.customer_id, email=checkout.email, checkout_id=checkout.pk
    )
    basket = build_basket(checkout, lines, shipping_cents=shipping_cents)
    evaluated = evaluate(basket, automatic=automatic, entered=entered, shopper=shopper, now=now)
    _list_discounts(checkout, rules, evaluated)
    _save_shares(checkout, lines, evaluated)


def pay_by_gift_card(checkout: Checkout, total_cents: int, *, now: datetime) -> int:
    """Pay the total by gift cards, using each up to its balance. Return the sum in cents."""
    voucher_ids = [
        applied.voucher_id for applied in checkout.discount_codes if applied.voucher_id is not None
    ]
    if not voucher_ids:
        return 0
    cards = load_vouchers_in_currency(ids=voucher_ids, currency=checkout.currency, now=now)
    payable = {card.id: card.payable_cents for card in cards}
    left_cents = total_cents
    codes = []
    for applied in checkout.discount_codes:
        if applied.voucher_id is not None:
            paid_cents = min(left_cents, payable.get(applied.voucher_id, 0))
            left_cents -= paid_cents
            applied = replace(applied, amount_cents=paid_cents)  # noqa: PLW2901
        codes.append(applied)
    checkout.discount_codes = codes
    return total_cents - left_cents


def build_basket(
    checkout: Checkout, lines: Sequence[CheckoutLineItem], *, shipping_cents: int | None = None
) -> Basket:
    """Build the basket for discounts: gross or net like the market's prices, net under a reverse charge.

    Minimums are compared with the frozen prices, so that entering a VAT number doesn't remove a discount.
    """
    return Basket(
        lines=tuple(
            Line(line.variant_id, line.product_id, line.quantity, line.listed_cents(checkout))
            for line in list_charged_lines(checkout, lines)
        ),
        currency=checkout.currency,
        market_id=checkout.market_id,
        shipping_cents=shipping_cents,
        listed_cents=sum(line.listed_cents(checkout) for line in lines),
    )


def list_entered_ids(checkout: Checkout) -> list[int]:
    return [applied.discount_id for applied in checkout.discount_codes if applied.discount_id is not None]


def _list_discounts(checkout: Checkout, rules: Sequence[Rule], evaluated: Evaluation) -> None:
    """Record what each discount takes off: for every code, even if nothing, and for automatic ones that apply."""
    by_id = {rule.id: rule for rule in rules}
    amounts = {applied.discount_id: applied.amount_cents for applied in evaluated.applied}
    off_by_code = {id_: cents for id_, cents in amounts.items() if by_id[id_].code is not None}
    checkout.discount_codes = [
        applied
        if applied.discount_id is None
        else replace(applied, amount_cents=off_by_code.get(applied.discount_id, 0))
        for applied in checkout.discount_codes
    ]
    checkout.automatic_discounts = [
        AutomaticDiscount(
            discount_id=discount_id,
            title=by_id[discount_id].title,
            type=by_id[discount_id].type,
            amount_cents=amount_cents,
        )
        for discount_id, amount_cents in amounts.items()
        if discount_id not in off_by_code
    ]


def _find_rules(
    checkout: Checkout, known: Sequence[Rule], *, now: datetime
) -> tuple[Sequence[Rule], Sequence[Rule]]:
    """The automatic discounts in force, and the entered ones in their order."""
    entered_ids = list_entered_ids(checkout)
    # Most shops have no automatic discounts most of the time, and most shoppers no codes.
    if not checkout.may_have_automatic_discounts and entered_ids == [rule.id for rule in known]:
        return [], known
    return load_rules_in_force(entered_ids=entered_ids, now=now)


def _save_shares(checkout: Checkout, lines: Sequence[CheckoutLineItem], evaluated: Evaluation) -> None:
    checkout.shipping_discount_cents = evaluated.shipping_discount_cents
    # Most steps change no share, and need no statement.
    changed = [
        (line, discount_cents)
        for line, discount_cents in zip(lines, evaluated.line_discounts, strict=True)
        if line.discount_cents != discount_cents
    ]
    for line, discount_cents in changed:
        line.discount_cents = discount_cents
    # Lines without ids are inserted later, together with their shares.
    if changed and checkout.pk:
        parameters = {
            "account_id": current_account_id(),
            "checkout_id": checkout.pk,
            "ids": [line.pk for line, _ in changed],
            "shares": [cents for _, cents in changed],
        }
        post(_SAVE_LINES.call(parameters))

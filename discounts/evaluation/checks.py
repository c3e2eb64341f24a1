"""Checks whether a rule may apply. The engine computes what it takes off."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from commerce.wording import Cents, Choice, Wording, mark

from .basket import Basket, Shopper
from .rules import Eligibility, Rule


class Reason(StrEnum):
    """Why a rule takes nothing off; the codes of refusals and of traces."""

    NOT_ACTIVE = "discount_not_active"
    NOT_STARTED = "discount_not_started"
    EXPIRED = "discount_expired"
    MARKET_MISMATCH = "market_mismatch"
    CURRENCY_MISMATCH = "currency_mismatch"
    MINIMUM_NOT_MET = "minimum_not_met"
    CUSTOMER_NOT_ELIGIBLE = "customer_not_eligible"
    USAGE_LIMIT_REACHED = "usage_limit_reached"
    CUSTOMER_USAGE_LIMIT_REACHED = "customer_usage_limit_reached"
    NOT_COMBINABLE = "not_combinable"
    SHIPPING_NOT_CHOSEN = "shipping_not_chosen"
    NOTHING_TO_DISCOUNT = "nothing_to_discount"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a rule can't apply: the reason, and a sentence with the facts for people."""

    reason: Reason
    detail: str


def find_obstacle(rule: Rule, basket: Basket, *, shopper: Shopper, now: datetime) -> Obstacle | None:
    """Return the first reason why a rule may not apply, with the facts; None if it may."""
    # In the order of docs/pricing.md, because clients get only the first reason.
    return _check_status(rule, now) or _check_basket(rule, basket) or _check_shopper(rule, shopper)


def _check_status(rule: Rule, now: datetime) -> Obstacle | None:
    if not rule.mechanic.is_available:
        return Obstacle(
            Reason.NOT_ACTIVE, Wording("The type %(type)s is not available any more.", type=Choice(rule.type))
        )
    if rule.status != "active":
        return Obstacle(Reason.NOT_ACTIVE, Wording("The discount is %(status)s.", status=Choice(rule.status)))
    if rule.starts_at is not None and now < rule.starts_at:
        return Obstacle(
            Reason.NOT_STARTED,
            Wording("The discount starts at %(moment)s.", moment=rule.starts_at.isoformat()),
        )
    # The end is exclusive: a discount until midnight doesn't apply at midnight.
    if rule.ends_at is not None and now >= rule.ends_at:
        return Obstacle(
            Reason.EXPIRED, Wording("The discount ended at %(moment)s.", moment=rule.ends_at.isoformat())
        )
    return None


def _check_basket(rule: Rule, basket: Basket) -> Obstacle | None:
    if rule.market_ids and basket.market_id not in rule.market_ids:
        return Obstacle(
            Reason.MARKET_MISMATCH,
            Wording("The discount is not for market %(market)s.", market=basket.market_id),
        )
    # A percentage may apply in any currency.
    if rule.currency is not None and rule.currency != basket.currency:
        detail = Wording(
            "The discount is in %(currency)s, the prices are in %(cart_currency)s.",
            currency=rule.currency,
            cart_currency=basket.currency,
        )
        return Obstacle(Reason.CURRENCY_MISMATCH, detail)
    minimum_cents, subtotal_cents = rule.minimum_order_subtotal_cents, basket.subtotal_cents
    if subtotal_cents < minimum_cents:
        detail = Wording(
            "The subtotal of %(subtotal)s is below the minimum of %(minimum)s.",
            subtotal=Cents(subtotal_cents),
            minimum=Cents(minimum_cents),
        )
        return Obstacle(Reason.MINIMUM_NOT_MET, detail)
    return None


def _check_shopper(rule: Rule, shopper: Shopper) -> Obstacle | None:
    detail: str | None = None
    # Both mean the same, but the flag can be combined with any eligibility.
    is_for_first_order = rule.first_order_only or rule.customer_eligibility == Eligibility.FIRST_ORDER
    if is_for_first_order and shopper.has_ordered:
        detail = mark("The discount is for first orders only.")
    else:
        match rule.customer_eligibility:
            case Eligibility.TAGGED if rule.customer_tags.isdisjoint(shopper.tags):
                detail = mark("The customer has none of the discount's tags.")
            case Eligibility.SEGMENTS if rule.segment_ids.isdisjoint(shopper.segment_ids):
                detail = mark("The customer is in none of the discount's segments.")
            case Eligibility.SPECIFIC if shopper.customer_id not in rule.customer_ids:
                detail = mark("The discount is for other customers.")
    if detail:
        return Obstacle(Reason.CUSTOMER_NOT_ELIGIBLE, detail)
    # Not exact: only `hold_uses` counts under a lock, when the payment starts. This check refuses most shoppers earlier.
    limit, used = rule.usage_limit_total, rule.usage_count
    if limit is not None and used >= limit:
        return Obstacle(
            Reason.USAGE_LIMIT_REACHED,
            Wording("The discount was used %(used)s times of %(limit)s.", used=used, limit=limit),
        )
    limit, used = rule.usage_limit_per_customer, shopper.uses.get(rule.id, 0)
    if limit is not None and used >= limit:
        detail = Wording(
            "The customer used the discount %(used)s times of %(limit)s.", used=used, limit=limit
        )
        return Obstacle(Reason.CUSTOMER_USAGE_LIMIT_REACHED, detail)
    return None

"""Applies rules one after another, each to what remains after those before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from commerce.wording import Cents, Wording, mark

from .basket import Basket, Shopper
from .checks import Obstacle, Reason, find_obstacle
from .remaining import Remaining
from .rules import Rule
from .stacking import find_excluded, sort_rules

SHIPPING_NOT_CHOSEN = Obstacle(
    Reason.SHIPPING_NOT_CHOSEN, mark("The discount is on shipping, but no shipping method is chosen yet.")
)


@dataclass(frozen=True, slots=True)
class Applied:
    """A rule that took something off, in cents."""

    discount_id: int
    amount_cents: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one rule: the cents that it took off, or the reason why it took nothing off."""

    discount_id: int
    amount_cents: int
    reason: Reason | None
    detail: str

    @property
    def is_applied(self) -> bool:
        return self.reason is None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The cents taken off each line, in the lines' order, and off shipping. They add up to the applied amounts."""

    line_discounts: tuple[int, ...]
    shipping_discount_cents: int
    trace: tuple[Verdict, ...]

    @property
    def applied(self) -> tuple[Applied, ...]:
        return tuple(
            Applied(verdict.discount_id, verdict.amount_cents) for verdict in self.trace if verdict.is_applied
        )


def evaluate(
    basket: Basket, *, automatic: Sequence[Rule], entered: Sequence[Rule], shopper: Shopper, now: datetime
) -> Evaluation:
    """Compute what the rules take off a basket. The trace has each rule once, in the order of application."""
    rules = sort_rules(automatic, entered)
    # All rules are checked before anything is taken off, because only codes that may apply are combined.
    obstacles = _find_obstacles(rules, entered, basket, shopper=shopper, now=now)
    remaining = Remaining(basket)
    trace = tuple(_apply(rule, obstacles.get(rule.id), remaining) for rule in rules)
    return Evaluation(
        line_discounts=remaining.line_discounts,
        shipping_discount_cents=remaining.shipping_discount_cents,
        trace=trace,
    )


def _find_obstacles(
    rules: Sequence[Rule], entered: Sequence[Rule], basket: Basket, *, shopper: Shopper, now: datetime
) -> dict[int, Obstacle]:
    """Return the obstacles that are known before anything is taken off, by the rule's id."""
    failed = {
        rule.id: obstacle
        for rule in rules
        if (obstacle := find_obstacle(rule, basket, shopper=shopper, now=now))
    }
    allowed = [rule for rule in rules if rule.id not in failed]
    allowed_codes = [rule for rule in entered if rule.id not in failed]
    clashing = {
        rule_id: Obstacle(
            Reason.NOT_COMBINABLE, Wording("The discount can't be combined with %(other)s.", other=other.name)
        )
        for rule_id, other in find_excluded(allowed, allowed_codes).items()
    }
    # Later entries replace earlier ones, so that a rule that fails a check gets this reason, the most specific one.
    early = [rule for rule in rules if rule.is_on_shipping and basket.shipping_cents is None]
    return {rule.id: SHIPPING_NOT_CHOSEN for rule in early} | clashing | failed


def _apply(rule: Rule, obstacle: Obstacle | None, remaining: Remaining) -> Verdict:
    """Take the rule's value off what remains, unless there is an obstacle."""
    amount_cents = 0 if obstacle else remaining.apply(rule)
    if amount_cents:
        detail = f"The discount takes off {amount_cents} cents."
        return Verdict(rule.id, amount_cents, reason=None, detail=detail)
    if obstacle is None:
        detail = Wording(
            "The discount takes nothing off: %(amount)s remain of the prices it lowers.",
            amount=Cents(remaining.price_cents(rule)),
        )
        # A type's own explanation is about goods, so a rule on shipping gets the general one.
        if not rule.is_on_shipping:
            detail = rule.mechanic.worth_nothing or detail
        obstacle = Obstacle(Reason.NOTHING_TO_DISCOUNT, detail)
    return Verdict(rule.id, 0, reason=obstacle.reason, detail=obstacle.detail)

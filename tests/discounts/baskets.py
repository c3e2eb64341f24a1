"""Build baskets and rules from the values that matter to a test."""

from dataclasses import MISSING, fields
from datetime import UTC, datetime

from discounts.evaluation import CONFIG_COLUMNS, Basket, Evaluation, Line, Rule, Shopper, evaluate
from discounts.evaluation import build_rule as rule_of_mechanic
from discounts.registry import get_mechanic

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOBODY = Shopper()
UNTOUCHED = {field.name: field.default for field in fields(Rule) if field.default is not MISSING}
UNTOUCHED |= dict.fromkeys(CONFIG_COLUMNS)


def build_rule(row):
    return rule_of_mechanic(row, get_mechanic(row["type"]))


def line(unit_price_cents, quantity=1, *, product_id=1, variant_id=11):
    return Line(variant_id, product_id, quantity, unit_price_cents * quantity)


def basket(*lines, shipping_cents=None, currency="EUR", market_id=7):
    return Basket(lines, currency, market_id, shipping_cents)


def rule(rule_id=1, *, type="automatic_discount", **columns):  # noqa: A002 (the column's name)
    """Build a rule like from a row: with the table's defaults and stored JSON."""
    return build_rule(UNTOUCHED | {"id": rule_id, "type": type} | columns)


def percentage(rule_id, rate_bp, **columns):
    return rule(rule_id, value_mode="percentage", value_amount=rate_bp, **columns)


def code(rule_id, rate_bp, **columns):
    return percentage(rule_id, rate_bp, **{"type": "discount_code", "code": f"CODE{rule_id}"} | columns)


def bogo(
    rule_id=1, *, buy=None, get=None, value_mode="free", value_amount=None, max_applications=None, **columns
):
    """Build buy one, get one free, unless values are given."""
    config = {
        "buy": {"quantity": 1} | (buy or {}),
        "get": {"quantity": 1} | (get or {}),
        "value_mode": value_mode,
        "value_amount": value_amount,
        "max_applications": max_applications,
    }
    return rule(rule_id, type="buy_x_get_y", bogo_config=config, **columns)


def bulk(rule_id=1, *tiers, scope="line", **columns):
    """Tiers are `(min_quantity, value_mode, value_amount)`."""
    names = ("min_quantity", "value_mode", "value_amount")
    config = {"scope": scope, "tiers": [dict(zip(names, tier, strict=True)) for tier in tiers]}
    return rule(rule_id, type="bulk_pricing", bulk_tiers=config, **columns)


def evaluated(of, *automatic, entered=(), shopper=NOBODY) -> Evaluation:
    return evaluate(of, automatic=automatic, entered=entered, shopper=shopper, now=NOW)


def line_discounts(of, *automatic, entered=()) -> list[int]:
    return list(evaluated(of, *automatic, entered=entered).line_discounts)


def amounts(evaluation) -> list[tuple[int, int]]:
    """Return `(discount id, cents)` of each rule that applied, in order."""
    return [(applied.discount_id, applied.amount_cents) for applied in evaluation.applied]


def reasons(evaluation) -> dict:
    return {verdict.discount_id: verdict.reason for verdict in evaluation.trace}

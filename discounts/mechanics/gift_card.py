"""A discount that represents a voucher. It pays for the order in the end, and lowers no price."""

from collections.abc import Iterator
from typing import Any

from commerce.errors import FieldError
from commerce.wording import mark
from discounts.evaluation import Cut, Mechanic, Remaining, Rule, Stage, Terms

# Conditions of discounts, which a gift card never has.
_CONDITIONS = (
    "applies_to",
    "product_ids",
    "variant_ids",
    "market_ids",
    "minimum_order_subtotal_cents",
    "customer_eligibility",
    "customer_tags",
    "segment_ids",
    "customer_ids",
    "first_order_only",
    "usage_limit_total",
    "usage_limit_per_customer",
    "starts_at",
)


class GiftCard(Mechanic):
    type = "gift_card"
    stage = Stage.PAYMENT
    worth_nothing = mark("A gift card pays for the order and lowers no price.")
    refused = dict.fromkeys(_CONDITIONS, mark("A gift card pays for any product."))
    fixed = ("code", "value_mode", "value_amount", "currency", "ends_at")
    fixed_reason = mark("This can't be changed once a gift card is issued.")
    hidden = frozenset({"code", "applies_to", "product_ids", "variant_ids"})
    form_values = {"value_mode": "fixed_amount", "applies_to": "order"}

    def cut(self, rule: Rule, config: Any, remaining: Remaining) -> Cut:
        # A payment doesn't change the tax, and a discount would.
        return {}

    def errors(self, terms: Terms) -> Iterator[FieldError]:
        if terms.status == "disabled":
            yield FieldError("status", "not_allowed", "A gift card can't be disabled. Archive it to end it.")
        if terms.code is not None and terms.voucher_id is None:
            yield FieldError("code", "not_allowed", "A gift card gets its code when it is issued.")
        if terms.value_mode not in (None, "fixed_amount"):
            yield FieldError("value_mode", "not_allowed", "A gift card is worth a fixed amount.")
        elif terms.value_amount == 0:
            yield FieldError("value_amount", "min_value", "Must be at least 1.")

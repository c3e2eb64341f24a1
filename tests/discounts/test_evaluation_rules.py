"""Rules match their rows."""

import pytest

from discounts.evaluation import COLUMNS, Rule, Target
from discounts.evaluation.rules import AppliesTo, Eligibility, ValueMode
from discounts.mechanics.bulk_pricing import BulkTiers, Tier
from discounts.mechanics.buy_x_get_y import Bogo
from discounts.models import Discount
from discounts.registry import get_mechanic
from tests.discounts.baskets import NOW, build_rule


@pytest.mark.parametrize(
    ("names", "choices"),
    [
        (ValueMode, Discount.ValueMode),
        (AppliesTo, Discount.AppliesTo),
        (Eligibility, Discount.Eligibility),
    ],
)
def test_names_are_those_of_the_table(names, choices):
    assert list(names) == choices.values


def test_columns_are_those_of_the_table_but_for_what_rules_do_not_use():
    unused = {"account", "archived_at", "code_key", "created_at", "updated_at", "voucher"}

    assert {*COLUMNS} == {field.name for field in Discount._meta.fields} - unused


def test_rule_has_the_defaults_of_the_table():
    assert build_rule(vars(Discount(account_id=1, id=1, type="discount_code"))) == Rule(
        id=1, mechanic=get_mechanic("discount_code")
    )


def test_rule_of_a_row_has_its_values():
    row = vars(
        Discount(
            account_id=1,
            id=4,
            type="bulk_pricing",
            code="BULK",
            title="By the dozen",
            value_mode="percentage",
            value_amount=500,
            currency="EUR",
            applies_to="line_items",
            product_ids=[1, 2],
            variant_ids=[3],
            market_ids=[4],
            stackable=True,
            minimum_order_subtotal_cents=100,
            customer_eligibility="tagged",
            customer_tags=["vip"],
            segment_ids=[5],
            customer_ids=[6],
            first_order_only=True,
            usage_limit_total=7,
            usage_limit_per_customer=8,
            usage_count=9,
            starts_at=NOW,
            ends_at=NOW,
            status="disabled",
            bulk_tiers={
                "scope": "order",
                "tiers": [{"min_quantity": 12, "value_mode": "free", "value_amount": None}],
            },
        )
    )

    rule = build_rule(row)

    assert rule == Rule(
        id=4,
        mechanic=get_mechanic("bulk_pricing"),
        code="BULK",
        title="By the dozen",
        value_mode=ValueMode.PERCENTAGE,
        value_amount=500,
        currency="EUR",
        applies_to=AppliesTo.LINE_ITEMS,
        product_ids=frozenset({1, 2}),
        variant_ids=frozenset({3}),
        market_ids=frozenset({4}),
        stackable=True,
        minimum_order_subtotal_cents=100,
        customer_eligibility=Eligibility.TAGGED,
        customer_tags=frozenset({"vip"}),
        segment_ids=frozenset({5}),
        customer_ids=frozenset({6}),
        first_order_only=True,
        usage_limit_total=7,
        usage_limit_per_customer=8,
        usage_count=9,
        starts_at=NOW,
        ends_at=NOW,
        status="disabled",
        config=BulkTiers("order", (Tier(12, ValueMode.FREE),)),
    )


def test_bogo_is_read_from_its_json():
    config = {
        "buy": {"quantity": 2, "product_ids": [1], "variant_ids": []},
        "get": {"quantity": 1, "product_ids": [], "variant_ids": [21]},
        "value_mode": "percentage",
        "value_amount": 5000,
        "max_applications": 3,
    }

    assert Bogo.from_json(config) == Bogo(
        buy_quantity=2,
        get_quantity=1,
        value_mode=ValueMode.PERCENTAGE,
        value_amount=5000,
        buy=Target(product_ids=frozenset({1})),
        get=Target(variant_ids=frozenset({21})),
        max_applications=3,
    )

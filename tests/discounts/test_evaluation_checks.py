"""Whether a rule may apply at all, and the reason if it may not."""

from datetime import timedelta

import pytest

from discounts.evaluation import Reason, Shopper, find_obstacle
from tests.discounts.baskets import NOBODY, NOW, basket, evaluated, line, percentage

SECOND = timedelta(seconds=1)
FORTY_EUROS = basket(line(1000, 4))
CUSTOMER = Shopper(customer_id=5, tags=frozenset({"vip"}), segment_ids=frozenset({3}))
REGULAR = Shopper(customer_id=5, has_ordered=True, uses={1: 2, 2: 9})


def checked(shopper=NOBODY, **columns):
    obstacle = find_obstacle(percentage(1, 1000, **columns), FORTY_EUROS, shopper=shopper, now=NOW)
    return obstacle.reason if obstacle else None


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, None),
        ({"status": "disabled"}, "discount_not_active"),
        ({"status": "archived"}, "discount_not_active"),
        ({"starts_at": NOW}, None),
        ({"starts_at": NOW + SECOND}, "discount_not_started"),
        ({"ends_at": NOW + SECOND}, None),
        ({"ends_at": NOW}, "discount_expired"),
        ({"starts_at": NOW - SECOND, "ends_at": NOW + SECOND}, None),
        ({"market_ids": [7, 8]}, None),
        ({"market_ids": [8]}, "market_mismatch"),
        ({"currency": "EUR"}, None),
        ({"currency": "CZK"}, "currency_mismatch"),
        ({"minimum_order_subtotal_cents": 4000}, None),
        ({"minimum_order_subtotal_cents": 4001}, "minimum_not_met"),
        ({"usage_limit_total": 3, "usage_count": 2}, None),
        ({"usage_limit_total": 3, "usage_count": 3}, "usage_limit_reached"),
        ({"usage_limit_total": 3, "usage_count": 4}, "usage_limit_reached"),
    ],
)
def test_rule_applies_within_its_bounds_only(columns, expected):
    assert checked(**columns) == expected


@pytest.mark.parametrize(
    ("shopper", "columns", "expected"),
    [
        (CUSTOMER, {"customer_eligibility": "tagged", "customer_tags": ["vip", "b2b"]}, None),
        (CUSTOMER, {"customer_eligibility": "tagged", "customer_tags": ["b2b"]}, "customer_not_eligible"),
        (NOBODY, {"customer_eligibility": "tagged", "customer_tags": ["vip"]}, "customer_not_eligible"),
        (CUSTOMER, {"customer_eligibility": "segments", "segment_ids": [3, 4]}, None),
        (CUSTOMER, {"customer_eligibility": "segments", "segment_ids": [4]}, "customer_not_eligible"),
        (CUSTOMER, {"customer_eligibility": "specific", "customer_ids": [5]}, None),
        (CUSTOMER, {"customer_eligibility": "specific", "customer_ids": [6]}, "customer_not_eligible"),
        (NOBODY, {"customer_eligibility": "specific", "customer_ids": [5]}, "customer_not_eligible"),
        (CUSTOMER, {"customer_eligibility": "first_order"}, None),
        (NOBODY, {"customer_eligibility": "first_order"}, None),
        (REGULAR, {"customer_eligibility": "first_order"}, "customer_not_eligible"),
        (NOBODY, {"first_order_only": True}, None),
        (REGULAR, {"first_order_only": True}, "customer_not_eligible"),
        (
            REGULAR,
            {"first_order_only": True, "customer_eligibility": "specific", "customer_ids": [5]},
            "customer_not_eligible",
        ),
        (CUSTOMER, {"customer_tags": ["b2b"], "customer_ids": [6]}, None),
        (REGULAR, {"usage_limit_per_customer": 3}, None),
        (REGULAR, {"usage_limit_per_customer": 2}, "customer_usage_limit_reached"),
        (NOBODY, {"usage_limit_per_customer": 1}, None),
    ],
)
def test_rule_is_for_its_customers_only(shopper, columns, expected):
    assert checked(shopper, **columns) == expected


def test_first_reason_in_order_is_given():
    failing = {
        "status": ("disabled", "active", "discount_not_active"),
        "ends_at": (NOW, None, "discount_expired"),
        "market_ids": ([8], [], "market_mismatch"),
        "currency": ("CZK", None, "currency_mismatch"),
        "minimum_order_subtotal_cents": (9999, 0, "minimum_not_met"),
        "first_order_only": (True, False, "customer_not_eligible"),
        "usage_limit_total": (0, None, "usage_limit_reached"),
        "usage_limit_per_customer": (0, None, "customer_usage_limit_reached"),
    }
    columns = {name: bad for name, (bad, _, _) in failing.items()}

    for name, (_, good, reason) in failing.items():
        assert checked(REGULAR, **columns) == reason
        columns[name] = good
    assert checked(REGULAR, **columns) is None


@pytest.mark.parametrize(
    ("shopper", "columns", "expected"),
    [
        (NOBODY, {"status": "disabled"}, "The discount is disabled."),
        (NOBODY, {"starts_at": NOW + SECOND}, "The discount starts at 2026-11-21T12:00:01+00:00."),
        (NOBODY, {"ends_at": NOW}, "The discount ended at 2026-11-21T12:00:00+00:00."),
        (NOBODY, {"market_ids": [8]}, "The discount is not for market 7."),
        (NOBODY, {"currency": "CZK"}, "The discount is in CZK, the prices are in EUR."),
        (
            NOBODY,
            {"minimum_order_subtotal_cents": 5000},
            "The subtotal of 4000 cents is below the minimum of 5000 cents.",
        ),
        (REGULAR, {"first_order_only": True}, "The discount is for first orders only."),
        (REGULAR, {"customer_eligibility": "first_order"}, "The discount is for first orders only."),
        (NOBODY, {"customer_eligibility": "tagged"}, "The customer has none of the discount's tags."),
        (NOBODY, {"customer_eligibility": "segments"}, "The customer is in none of the discount's segments."),
        (NOBODY, {"customer_eligibility": "specific"}, "The discount is for other customers."),
        (NOBODY, {"usage_limit_total": 2, "usage_count": 2}, "The discount was used 2 times of 2."),
        (REGULAR, {"usage_limit_per_customer": 1}, "The customer used the discount 2 times of 1."),
    ],
)
def test_facts_are_said_in_a_sentence(shopper, columns, expected):
    obstacle = find_obstacle(percentage(1, 1000, **columns), FORTY_EUROS, shopper=shopper, now=NOW)

    assert obstacle.detail == expected


def test_rule_that_may_not_apply_takes_nothing_off():
    evaluation = evaluated(FORTY_EUROS, percentage(1, 1000, ends_at=NOW), percentage(2, 500))

    assert evaluation.line_discounts == (200,)
    first, second = evaluation.trace
    assert (first.is_applied, first.amount_cents, first.reason) == (False, 0, Reason.EXPIRED)
    assert (second.is_applied, second.amount_cents, second.reason) == (True, 200, None)
    assert second.detail == "The discount takes off 200 cents."


def test_minimum_is_compared_before_discounts():
    half = percentage(1, 5000)
    from_forty_euros = percentage(2, 1000, minimum_order_subtotal_cents=4000)

    assert evaluated(FORTY_EUROS, half, from_forty_euros).line_discounts == (2200,)

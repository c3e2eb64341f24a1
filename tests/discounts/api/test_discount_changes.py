"""PUT and DELETE discounts/{id}.json: changing and archiving discounts."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tests import factories
from tests.commerce.refusals import field_errors, refusal
from tests.discounts.api.discounts import BOGO, DEFAULTS, PERCENTAGE, stored


def test_update_discount_changes_what_is_sent_and_nothing_else(shop):
    discount = factories.make_discount(shop, usage_count=3)
    before = stored(shop, discount)

    answer = shop.admin.put(f"discounts/{discount.pk}.json", {"title": "More", "value_amount": 2000})

    assert answer.status_code == 200
    assert answer.json()["discount"].items() >= {"title": "More", "value_amount": 2000}.items()
    after = stored(shop, discount)
    assert after == before | {"title": "More", "value_amount": 2000, "updated_at": after["updated_at"]}
    assert after["updated_at"] > before["updated_at"]


def test_update_discount_by_null_resets_to_the_default(shop):
    discount = factories.make_discount(
        shop,
        type="discount_code",
        code="X",
        currency="EUR",
        applies_to="line_items",
        market_ids=[shop.market.pk],
        stackable=True,
        minimum_order_subtotal_cents=100,
        customer_eligibility="first_order",
        customer_tags=["vip"],
        first_order_only=True,
        usage_limit_total=1,
        usage_limit_per_customer=1,
        starts_at=timezone.now(),
        ends_at=timezone.now() + timedelta(days=1),
        status="disabled",
    )
    kept = {"code": "X", "value_mode": "percentage", "value_amount": 1000}
    resets = dict.fromkeys(DEFAULTS.keys() - kept - {"usage_count", "effective_status", "archived_at"})

    answer = shop.admin.put(f"discounts/{discount.pk}.json", resets)

    assert answer.status_code == 200
    assert answer.json()["discount"].items() >= (DEFAULTS | kept).items()


def test_update_discount_takes_its_own_type_and_code_again(shop):
    discount = shop.admin.post("discounts.json", PERCENTAGE).json()["discount"]

    answer = shop.admin.put(f"discounts/{discount['id']}.json", discount)

    assert answer.status_code == 200
    assert answer.json()["discount"] == discount | {"updated_at": answer.json()["discount"]["updated_at"]}


def test_update_discount_can_not_change_its_type(shop):
    discount = factories.make_discount(shop)
    before = stored(shop, discount)

    answer = shop.admin.put(f"discounts/{discount.pk}.json", {"type": "discount_code", "code": "X"})

    assert field_errors(answer) == [("type", "can_not_change")]
    assert stored(shop, discount) == before


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"value_mode": "fixed_amount"}, ("currency", "required")),
        ({"value_amount": 10_001}, ("value_amount", "max_value")),
        ({"value_amount": None}, ("value_amount", "required")),
        ({"value_mode": None}, ("value_mode", "required")),
        ({"code": "X"}, ("code", "not_allowed")),
        ({"customer_eligibility": "tagged"}, ("customer_tags", "required")),
        ({"ends_at": "2026-01-01T00:00:00Z"}, ("ends_at", "not_after_start")),
        ({"bogo_config": BOGO}, ("bogo_config", "not_allowed")),
        ({"title": None}, ("title", "null")),
        ({"status": "archived"}, ("status", "invalid_choice")),
        ({"product_ids": [2**52]}, ("product_ids.0", "not_found")),
    ],
)
def test_update_discount_checks_what_it_would_become(shop, changes, error):
    discount = factories.make_discount(shop, starts_at=datetime(2026, 1, 1, tzinfo=UTC))
    before = stored(shop, discount)

    answer = shop.admin.put(f"discounts/{discount.pk}.json", changes)

    assert field_errors(answer) == [error]
    assert stored(shop, discount) == before


def test_update_discount_to_a_taken_code_is_refused(shop):
    factories.make_discount(shop, type="discount_code", code="TAKEN")
    discount = factories.make_discount(shop, type="discount_code", code="FREE")

    answer = shop.admin.put(f"discounts/{discount.pk}.json", {"code": "taken"})

    assert refusal(answer) == (409, "discount_code_taken")
    assert stored(shop, discount)["code"] == "FREE"


@pytest.mark.parametrize(("changed", "statements"), [({"title": "T"}, 6), ({"product_ids": 3}, 7)])
def test_update_discount_in_a_fixed_number_of_statements(
    shop, django_assert_num_queries, changed, statements
):
    discount = factories.make_discount(shop)
    if "product_ids" in changed:
        changed = {"product_ids": [factories.make_product(shop).pk for _ in range(changed["product_ids"])]}
    shop.admin.get("discounts.json")

    # Lock and write, and one to know the products; four are the scope's and the test's.
    with django_assert_num_queries(statements):
        answer = shop.admin.put(f"discounts/{discount.pk}.json", changed)

    assert answer.status_code == 200


def test_archived_discount_answers_the_same_when_archived_again(shop):
    discount = factories.make_discount(shop)

    answers = [shop.admin.delete(f"discounts/{discount.pk}.json") for _ in range(2)]
    read = shop.admin.get(f"discounts/{discount.pk}.json")

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json() == read.json()
    answered = read.json()["discount"]
    assert (answered["status"], answered["effective_status"]) == ("archived", "archived")
    assert answered["archived_at"] == answered["updated_at"]


def test_update_of_an_archived_discount_is_refused(shop):
    discount = factories.make_discount(shop, status="archived")
    before = stored(shop, discount)

    answer = shop.admin.put(f"discounts/{discount.pk}.json", {"status": "active"})

    assert refusal(answer) == (409, "discount_archived")
    assert stored(shop, discount) == before

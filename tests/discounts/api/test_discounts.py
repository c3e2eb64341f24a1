"""discounts.json and discounts/{id}.json: creating, reading and listing discounts."""

from datetime import UTC, datetime, timedelta

import pytest

from commerce.formats import timestamp
from discounts.models import Discount
from tests import factories
from tests.commerce.refusals import field_errors, refusal
from tests.discounts.api.discounts import BOGO, DEFAULTS, PERCENTAGE, TIERS, rows_of, stored


def test_create_discount_with_the_least_answers_all_fields(shop):
    answer = shop.admin.post("discounts.json", PERCENTAGE)

    assert answer.status_code == 201
    (row,) = rows_of(shop)
    assert answer.json()["discount"] == DEFAULTS | PERCENTAGE | {
        "id": str(row.pk),
        "created_at": timestamp(row.created_at),
        "updated_at": timestamp(row.updated_at),
    }


def test_create_discount_with_everything_answers_what_was_sent(shop):
    product, variant = factories.make_product(shop), factories.make_variant(shop)
    customer = factories.make_customer(shop)
    body = PERCENTAGE | {
        "value_mode": "fixed_amount",
        "value_amount": 500,
        "currency": "EUR",
        "applies_to": "line_items",
        "product_ids": [str(product.pk)],
        "variant_ids": [str(variant.pk)],
        "market_ids": [str(shop.market.pk)],
        "stackable": True,
        "minimum_order_subtotal_cents": "10000",
        "customer_eligibility": "specific",
        "customer_tags": ["vip"],
        "customer_ids": [str(customer.pk)],
        "first_order_only": True,
        "usage_limit_total": 100,
        "usage_limit_per_customer": 1,
        "starts_at": "2026-11-01T00:00:00Z",
        "ends_at": "2100-01-01T00:00:00Z",
        "status": "disabled",
    }

    created = shop.admin.post("discounts.json", body)
    read = shop.admin.get(f"discounts/{created.json()['discount']['id']}.json")

    assert (created.status_code, read.status_code) == (201, 200)
    assert created.json() == read.json()
    assert read.json()["discount"].items() >= (body | {"effective_status": "disabled"}).items()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"type": "automatic_discount", "value_mode": "free"}, {"value_mode": "free", "value_amount": None}),
        (
            {"type": "automatic_discount", "value_mode": "set_price", "value_amount": 0, "currency": "eur"},
            {"value_amount": 0, "currency": "EUR"},
        ),
        ({"type": "shipping_discount", "value_mode": "free"}, {"applies_to": "shipping", "code": None}),
        (
            {"type": "shipping_discount", "value_mode": "free", "code": "SHIP", "applies_to": "shipping"},
            {"applies_to": "shipping", "code": "SHIP"},
        ),
        ({"type": "discount_code", "code": "S", "value_mode": "free", "applies_to": "shipping"}, {}),
        ({"type": "buy_x_get_y", "bogo_config": BOGO, "code": "THREE"}, {"code": "THREE"}),
        (
            {"type": "bulk_pricing", "bulk_tiers": TIERS, "applies_to": "line_items"},
            {"applies_to": "line_items", "bulk_tiers": TIERS},
        ),
    ],
)
def test_create_discount_of_each_type(shop, fields, expected):
    answer = shop.admin.post("discounts.json", {"title": "T"} | fields)

    assert answer.status_code == 201
    assert answer.json()["discount"].items() >= expected.items()


def test_create_buy_x_get_y_keeps_its_mechanics_in_one_form(shop):
    product, variant = factories.make_product(shop), factories.make_variant(shop)
    config = {
        "buy": {"quantity": 2, "product_ids": [str(product.pk)], "comment": "dropped"},
        "get": {"quantity": 1, "variant_ids": [variant.pk]},
        "value_mode": "percentage",
        "value_amount": 5000,
    }
    body = {"type": "buy_x_get_y", "title": "T", "bogo_config": config}

    answer = shop.admin.post("discounts.json", body)

    assert answer.json()["discount"]["bogo_config"] == {
        "buy": {"quantity": 2, "product_ids": [str(product.pk)], "variant_ids": []},
        "get": {"quantity": 1, "product_ids": [], "variant_ids": [str(variant.pk)]},
        "value_mode": "percentage",
        "value_amount": 5000,
        "max_applications": None,
    }
    (row,) = rows_of(shop)
    assert row.bogo_config["buy"]["product_ids"] == [product.pk]
    assert row.bogo_config["get"]["variant_ids"] == [variant.pk]


@pytest.mark.parametrize(
    "fields", [{"type": "buy_x_get_y", "bogo_config": BOGO}, {"type": "bulk_pricing", "bulk_tiers": TIERS}]
)
def test_value_beside_the_mechanics_is_ignored(shop, fields):
    value = {"value_mode": "percentage", "value_amount": 20_000}

    answer = shop.admin.post("discounts.json", {"title": "T"} | fields | value)

    assert answer.status_code == 201
    assert answer.json()["discount"].items() >= {"value_mode": None, "value_amount": None}.items()


def test_code_is_trimmed_and_kept_as_typed_in_one_unicode_form(shop):
    answer = shop.admin.post("discounts.json", PERCENTAGE | {"code": "  Gru\u0308n-50%_off.v2  "})

    assert answer.json()["discount"]["code"] == "Gr\u00fcn-50%_off.v2"


@pytest.mark.parametrize("code", ["WELCOME", "welcome", " Welcome "])
def test_create_discount_with_a_taken_code_is_refused(shop, code):
    factories.make_discount(shop, type="discount_code", code="WELCOME")

    answer = shop.admin.post("discounts.json", PERCENTAGE | {"code": code})

    assert refusal(answer) == (409, "discount_code_taken")
    assert len(rows_of(shop)) == 1


def test_code_is_taken_in_any_case_of_any_letter(shop):
    shop.admin.post("discounts.json", PERCENTAGE | {"code": "grün"})

    answer = shop.admin.post("discounts.json", PERCENTAGE | {"code": "GRÜN"})

    assert refusal(answer) == (409, "discount_code_taken")


def test_code_of_an_archived_discount_or_of_another_account_is_free(shop, other_shop):
    factories.make_discount(other_shop, type="discount_code", code="WELCOME")
    archived = factories.make_discount(shop, type="discount_code", code="WELCOME")
    shop.admin.delete(f"discounts/{archived.pk}.json")

    answer = shop.admin.post("discounts.json", PERCENTAGE)

    assert answer.status_code == 201


def test_code_of_a_disabled_discount_is_taken(shop):
    factories.make_discount(shop, type="discount_code", code="WELCOME", status="disabled")

    answer = shop.admin.post("discounts.json", PERCENTAGE)

    assert refusal(answer) == (409, "discount_code_taken")


@pytest.mark.parametrize("number", [1, 3])
def test_list_discounts_newest_first_in_one_statement(shop, django_assert_num_queries, number):
    discounts = [factories.make_discount(shop) for _ in range(number)]
    shop.admin.get("discounts.json")

    # Besides the list: the scope's setting, and in a test's own transaction a savepoint, its end, and the reset.
    with django_assert_num_queries(5):
        answer = shop.admin.get("discounts.json")

    assert answer.status_code == 200
    assert [row["id"] for row in answer.json()["discounts"]] == [str(row.pk) for row in reversed(discounts)]
    assert answer.json()["next_cursor_id"] is None


def test_list_discounts_in_pages_without_those_of_others(shop, other_shop):
    factories.make_discount(other_shop)
    first, second = factories.make_discount(shop), factories.make_discount(shop)

    page = shop.admin.get("discounts.json?limit=1").json()
    rest = shop.admin.get(f"discounts.json?limit=1&cursor_id={page['next_cursor_id']}").json()

    assert [row["id"] for row in page["discounts"]] == [str(second.pk)]
    assert [row["id"] for row in rest["discounts"]] == [str(first.pk)]
    assert rest["next_cursor_id"] is None


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("", ["archived", "disabled", "code", "automatic"]),
        ("?type=automatic_discount", ["automatic"]),
        ("?status=archived", ["archived"]),
        ("?status=active", ["code", "automatic"]),
        ("?code=%20summer%20", ["archived", "code"]),
        ("?code=SUMMER&status=active", ["code"]),
        ("?code=summe", []),
        ("?type=gift_card", []),
    ],
)
def test_list_discounts_filtered(shop, query, titles):
    factories.make_discount(shop, title="automatic")
    factories.make_discount(shop, title="code", type="discount_code", code="Summer")
    factories.make_discount(shop, title="disabled", type="discount_code", code="X", status="disabled")
    factories.make_discount(shop, title="archived", type="discount_code", code="SUMMER", status="archived")

    answer = shop.admin.get(f"discounts.json{query}")

    assert [row["title"] for row in answer.json()["discounts"]] == titles


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [
        ("type=voucher", "type", "invalid_choice"),
        ("status=expired", "status", "invalid_choice"),
        ("code=", "code", "blank"),
        ("code=%00", "code", "null_characters_not_allowed"),
    ],
)
def test_list_discounts_refuses_a_bad_filter(shop, query, field, code):
    answer = shop.admin.get(f"discounts.json?{query}")

    assert field_errors(answer) == [(field, code)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "active"),
        ({"starts_at": -1, "ends_at": 1}, "active"),
        ({"starts_at": 1}, "scheduled"),
        ({"ends_at": -1}, "expired"),
        ({"ends_at": 0}, "expired"),
        ({"starts_at": 0}, "active"),
        ({"usage_limit_total": 2, "usage_count": 1}, "active"),
        ({"usage_limit_total": 2, "usage_count": 2}, "exhausted"),
        ({"usage_limit_total": 1, "usage_count": 2, "ends_at": -1}, "expired"),
        ({"status": "disabled", "ends_at": -1}, "disabled"),
        ({"status": "archived", "starts_at": 1}, "archived"),
    ],
)
def test_effective_status(fields, expected):
    now = datetime(2026, 11, 21, tzinfo=UTC)
    window = {name: now + timedelta(days=fields[name]) for name in ("starts_at", "ends_at") if name in fields}

    discount = Discount(account_id=1, **fields | window)

    assert discount.effective_status(now) == expected


def test_discount_of_another_account_is_not_found(shop, other_shop):
    foreign = factories.make_discount(other_shop)
    path = f"discounts/{foreign.pk}.json"

    answers = [shop.admin.get(path), shop.admin.put(path, {"title": "Mine"}), shop.admin.delete(path)]

    assert [refusal(answer) for answer in answers] == [(404, "not_found")] * 3
    assert stored(other_shop, foreign)["title"] == foreign.title
    assert stored(other_shop, foreign)["status"] == "active"


def test_key_without_the_scope_is_refused(shop):
    reader = shop.client_with("read_discounts")

    answer = reader.post("discounts.json", PERCENTAGE)

    assert refusal(answer) == (403, "insufficient_scope")
    assert reader.get("discounts.json").json()["discounts"] == []

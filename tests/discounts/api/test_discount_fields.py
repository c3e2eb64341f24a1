"""What discounts.json refuses, field by field."""

import pytest

from commerce.customers.models import Segment
from discounts.models import Discount
from tests import factories
from tests.commerce.refusals import field_errors

CODE = {
    "type": "discount_code",
    "code": "WELCOME",
    "title": "Welcome",
    "value_mode": "percentage",
    "value_amount": 1000,
}
AUTOMATIC = {"type": "automatic_discount", "title": "T", "value_mode": "percentage", "value_amount": 1000}
FREE_SHIPPING = {"type": "shipping_discount", "title": "T", "value_mode": "free"}
BOGO = {
    "type": "buy_x_get_y",
    "title": "T",
    "bogo_config": {"buy": {"quantity": 2}, "get": {"quantity": 1}, "value_mode": "free"},
}
BULK = {
    "type": "bulk_pricing",
    "title": "T",
    "bulk_tiers": {
        "scope": "line",
        "tiers": [{"min_quantity": 10, "value_mode": "percentage", "value_amount": 500}],
    },
}
NOBODYS_ID = 2**52


def errors_of(shop, body):
    """The field errors of a discount that is refused."""
    errors = field_errors(shop.admin.post("discounts.json", body))
    with shop.scope():
        assert not Discount.objects.exists()
    return errors


def without(body, *names):
    return {name: value for name, value in body.items() if name not in names}


def bogo(**changes):
    return BOGO | {"bogo_config": BOGO["bogo_config"] | changes}


def tiers(*changes, **others):
    tier = BULK["bulk_tiers"]["tiers"][0]
    return BULK | {"bulk_tiers": {"scope": "line", "tiers": [tier | change for change in changes]} | others}


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"type": None}, "type", "null"),
        ({"type": "coupon"}, "type", "invalid_choice"),
        ({"title": None}, "title", "null"),
        ({"title": " "}, "title", "blank"),
        ({"title": "x" * 201}, "title", "max_length"),
        ({"title": "a\x00b"}, "title", "null_characters_not_allowed"),
        ({"title": 5}, "title", "invalid"),
        ({"code": ""}, "code", "blank"),
        ({"code": "x" * 65}, "code", "max_length"),
        ({"code": "A/B"}, "code", "invalid_code"),
        ({"code": "A B"}, "code", "invalid_code"),
        ({"code": "A\nB"}, "code", "invalid_code"),
        ({"code": "A\x00B"}, "code", "invalid_code"),
        ({"code": "A\u200bB"}, "code", "invalid_code"),
        ({"code": "A?B"}, "code", "invalid_code"),
        ({"code": "A#B"}, "code", "invalid_code"),
        ({"code": "A\\B"}, "code", "invalid_code"),
        ({"code": "..."}, "code", "invalid_code"),
        ({"code": 10}, "code", "invalid"),
        ({"value_mode": "half"}, "value_mode", "invalid_choice"),
        ({"value_amount": -1}, "value_amount", "min_value"),
        ({"value_amount": 10_001}, "value_amount", "max_value"),
        ({"value_amount": 2**53}, "value_amount", "max_value"),
        ({"value_amount": 10.5}, "value_amount", "invalid"),
        ({"value_amount": "1000"}, "value_amount", "invalid"),
        ({"value_amount": True}, "value_amount", "invalid"),
        ({"currency": "EU"}, "currency", "unknown_currency"),
        ({"applies_to": "taxes"}, "applies_to", "invalid_choice"),
        ({"stackable": "yes"}, "stackable", "invalid"),
        ({"minimum_order_subtotal_cents": -1}, "minimum_order_subtotal_cents", "min_value"),
        ({"minimum_order_subtotal_cents": 0.5}, "minimum_order_subtotal_cents", "invalid"),
        ({"customer_eligibility": "some"}, "customer_eligibility", "invalid_choice"),
        ({"customer_tags": "vip"}, "customer_tags", "not_a_list"),
        ({"customer_tags": [["vip"]]}, "customer_tags.0", "invalid"),
        ({"customer_tags": ["x" * 65]}, "customer_tags.0", "max_length"),
        ({"customer_tags": ["x"] * 101}, "customer_tags", "max_length"),
        ({"product_ids": {}}, "product_ids", "not_a_list"),
        ({"product_ids": [[1]]}, "product_ids.0", "invalid"),
        ({"product_ids": [0]}, "product_ids.0", "min_value"),
        ({"product_ids": [1] * 1001}, "product_ids", "max_length"),
        ({"first_order_only": 1}, "first_order_only", "invalid"),
        ({"usage_limit_total": 0}, "usage_limit_total", "min_value"),
        ({"usage_limit_total": 2**31}, "usage_limit_total", "max_value"),
        ({"usage_limit_per_customer": 0}, "usage_limit_per_customer", "min_value"),
        ({"starts_at": "tomorrow"}, "starts_at", "invalid"),
        ({"ends_at": "2026-12-01T00:00:00"}, "ends_at", "no_offset"),
        ({"status": "archived"}, "status", "invalid_choice"),
        ({"status": "expired"}, "status", "invalid_choice"),
        ({"bogo_config": []}, "bogo_config", "invalid"),
        ({"bulk_tiers": "free"}, "bulk_tiers", "invalid"),
    ],
)
def test_field_of_a_wrong_form(shop, changes, field, code):
    assert errors_of(shop, CODE | changes) == [(field, code)]


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        (without(CODE, "type"), "type", "required"),
        (without(CODE, "title"), "title", "required"),
        (without(CODE, "code"), "code", "required"),
        (CODE | {"code": None}, "code", "required"),
        (AUTOMATIC | {"code": "X"}, "code", "not_allowed"),
        (without(CODE, "value_mode"), "value_mode", "required"),
        (without(AUTOMATIC, "value_mode"), "value_mode", "required"),
        (without(FREE_SHIPPING, "value_mode"), "value_mode", "required"),
        (without(CODE, "value_amount"), "value_amount", "required"),
        (CODE | {"value_mode": "fixed_amount"}, "currency", "required"),
        (CODE | {"value_mode": "set_price"}, "currency", "required"),
        (
            CODE | {"value_mode": "set_price", "value_amount": None, "currency": "EUR"},
            "value_amount",
            "required",
        ),
        (FREE_SHIPPING | {"applies_to": "order"}, "applies_to", "not_allowed"),
        (BOGO | {"applies_to": "shipping"}, "applies_to", "not_allowed"),
        (BULK | {"applies_to": "shipping"}, "applies_to", "not_allowed"),
        (CODE | {"customer_eligibility": "tagged"}, "customer_tags", "required"),
        (CODE | {"customer_eligibility": "segments", "segment_ids": []}, "segment_ids", "required"),
        (CODE | {"customer_eligibility": "specific", "customer_tags": ["vip"]}, "customer_ids", "required"),
        (CODE | {"bogo_config": BOGO["bogo_config"]}, "bogo_config", "not_allowed"),
        (CODE | {"bulk_tiers": BULK["bulk_tiers"]}, "bulk_tiers", "not_allowed"),
        (BOGO | {"bulk_tiers": BULK["bulk_tiers"]}, "bulk_tiers", "not_allowed"),
        (BULK | {"bogo_config": BOGO["bogo_config"]}, "bogo_config", "not_allowed"),
        (without(BOGO, "bogo_config"), "bogo_config", "required"),
        (without(BULK, "bulk_tiers"), "bulk_tiers", "required"),
    ],
)
def test_field_that_does_not_fit_the_others(shop, body, field, code):
    assert errors_of(shop, body) == [(field, code)]


@pytest.mark.parametrize(
    "ends_at", ["2026-12-01T00:00:00Z", "2026-11-30T23:59:59Z", "2026-12-01T01:00:00+01:00"]
)
def test_window_that_ends_before_it_starts(shop, ends_at):
    window = {"starts_at": "2026-12-01T00:00:00Z", "ends_at": ends_at}

    assert errors_of(shop, CODE | window) == [("ends_at", "not_after_start")]


def test_every_field_that_does_not_fit_is_named(shop):
    body = {"type": "discount_code", "title": "T", "value_mode": "fixed_amount", "applies_to": "order"}

    assert errors_of(shop, body) == [
        ("code", "required"),
        ("value_amount", "required"),
        ("currency", "required"),
    ]


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        (bogo(buy=None), "buy", "null"),
        (bogo(get={}), "get.quantity", "required"),
        (bogo(buy={"quantity": 0}), "buy.quantity", "min_value"),
        (bogo(buy={"quantity": 10_000}), "buy.quantity", "max_value"),
        (bogo(get={"quantity": "1"}), "get.quantity", "invalid"),
        (bogo(get={"quantity": True}), "get.quantity", "invalid"),
        (bogo(get={"quantity": 1, "product_ids": None}), "get.product_ids", "null"),
        (bogo(get={"quantity": 1, "variant_ids": [1.5]}), "get.variant_ids.0", "invalid"),
        (bogo(get={"quantity": 1, "variant_ids": [2**53]}), "get.variant_ids.0", "max_value"),
        (bogo(value_mode=None), "value_mode", "null"),
        (bogo(value_mode="most"), "value_mode", "invalid_choice"),
        (bogo(value_mode="percentage"), "value_amount", "required"),
        (bogo(value_mode="percentage", value_amount=10_001), "value_amount", "max_value"),
        (bogo(value_mode="percentage", value_amount=-1), "value_amount", "min_value"),
        (bogo(max_applications=0), "max_applications", "min_value"),
        (bogo(max_applications=2**31), "max_applications", "max_value"),
        (bogo(buy=[]), "buy", "invalid"),
    ],
)
def test_bogo_config_that_makes_no_sense(shop, body, field, code):
    assert errors_of(shop, body) == [(f"bogo_config.{field}", code)]


def test_bogo_config_without_anything_names_what_it_needs(shop):
    assert errors_of(shop, BOGO | {"bogo_config": {}}) == [
        ("bogo_config.value_mode", "required"),
        ("bogo_config.buy", "required"),
        ("bogo_config.get", "required"),
    ]


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        (tiers({}, scope=None), "scope", "null"),
        (tiers({}, scope="cart"), "scope", "invalid_choice"),
        (tiers(), "tiers", "empty"),
        (tiers(tiers={}), "tiers", "not_a_list"),
        (tiers(tiers=[{"min_quantity": 1}] * 21), "tiers", "max_length"),
        (tiers(tiers=[1]), "tiers.0", "invalid"),
        (tiers({"min_quantity": 0}), "tiers.0.min_quantity", "min_value"),
        (tiers({"min_quantity": 10_000}), "tiers.0.min_quantity", "max_value"),
        (tiers({"min_quantity": 2.0}), "tiers.0.min_quantity", "invalid"),
        (tiers({}, {"min_quantity": 5}, {}), "tiers.2.min_quantity", "duplicate"),
        (tiers({"value_mode": ""}), "tiers.0.value_mode", "invalid_choice"),
        (tiers({"value_amount": None}), "tiers.0.value_amount", "required"),
        (tiers({}, {"min_quantity": 20, "value_amount": 10_001}), "tiers.1.value_amount", "max_value"),
    ],
)
def test_bulk_tiers_that_make_no_sense(shop, body, field, code):
    assert errors_of(shop, body) == [(f"bulk_tiers.{field}", code)]


def test_bulk_tiers_in_any_order_are_kept_rising(shop):
    body = tiers({"min_quantity": 20}, {"min_quantity": 5}, {"min_quantity": 10})

    answer = shop.admin.post("discounts.json", body)

    kept = answer.json()["discount"]["bulk_tiers"]["tiers"]
    assert [tier["min_quantity"] for tier in kept] == [5, 10, 20]


@pytest.mark.parametrize("mode", ["fixed_amount", "set_price"])
@pytest.mark.parametrize("kind", ["bogo", "tiers"])
def test_money_inside_the_mechanics_needs_a_currency(shop, kind, mode):
    value = {"value_mode": mode, "value_amount": 100}
    body = bogo(**value) if kind == "bogo" else tiers({}, value | {"min_quantity": 20})

    assert errors_of(shop, body) == [("currency", "required")]
    assert shop.admin.post("discounts.json", body | {"currency": "EUR"}).status_code == 201


def test_ids_that_name_nothing_here_are_named(shop, other_shop):
    product = factories.make_product(shop)
    foreign = factories.make_product(other_shop)
    body = CODE | {
        "product_ids": [product.pk, foreign.pk, product.pk],
        "variant_ids": [NOBODYS_ID],
        "market_ids": [shop.market.pk, other_shop.market.pk],
        "segment_ids": [NOBODYS_ID],
        "customer_ids": [factories.make_customer(other_shop).pk],
    }

    assert errors_of(shop, body) == [
        ("product_ids.1", "not_found"),
        ("variant_ids.0", "not_found"),
        ("market_ids.1", "not_found"),
        ("segment_ids.0", "not_found"),
        ("customer_ids.0", "not_found"),
    ]


def test_ids_inside_bogo_config_that_name_nothing_here_are_named(shop, other_shop):
    variant = factories.make_variant(shop)
    foreign = factories.make_variant(other_shop)
    body = bogo(
        buy={"quantity": 1, "product_ids": [NOBODYS_ID]},
        get={"quantity": 1, "variant_ids": [variant.pk, foreign.pk]},
    )

    assert errors_of(shop, body) == [
        ("bogo_config.buy.product_ids.0", "not_found"),
        ("bogo_config.get.variant_ids.1", "not_found"),
    ]


@pytest.mark.parametrize("number", [1, 3])
def test_ids_are_looked_up_in_one_statement_for_each_kind(shop, django_assert_num_queries, number):
    products = [factories.make_product(shop).pk for _ in range(number)]
    customers = [factories.make_customer(shop).pk for _ in range(number)]
    with shop.scope():
        segments = [
            Segment.objects.create(handle=f"s{index}", name="S", filter={"all": []}).pk
            for index in range(number)
        ]
    side = {"quantity": 1, "product_ids": products}
    body = bogo(buy=side, get=side) | {
        "product_ids": products,
        "customer_ids": customers,
        "segment_ids": segments,
    }
    shop.admin.get("discounts.json")

    # Three look-ups and the row; four are the scope's and the test's.
    with django_assert_num_queries(8):
        answer = shop.admin.post("discounts.json", body)

    assert answer.status_code == 201

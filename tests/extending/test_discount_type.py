"""docs/extending.md, "Add a discount type": a class and a setting, without touching the product."""

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import orjson
import pytest
from drf_spectacular.generators import SchemaGenerator
from hypothesis import given
from rest_framework import serializers

from checkouts.models import Checkout
from commerce.orders.models import Order
from commerce.rest import unknown_fields, versioning
from discounts.evaluation import (
    ByQuantity,
    Cut,
    Group,
    Ids,
    Number,
    Remaining,
    Rule,
    Stage,
    Target,
    evaluate,
)
from discounts.models import Discount, DiscountRedemption
from tests import factories, openapi
from tests.backoffice.conftest import owner, support  # noqa: F401  fixtures
from tests.backoffice.test_discount_trial import PAGE, rows
from tests.discounts.baskets import NOBODY, NOW, basket, line, rule
from tests.discounts.strategies import MANY, baskets
from tests.problems import problem
from tests.storefront import cart_with, checkout_in, enter_checkout, take_step

EVERY_NTH = Group(
    "EveryNth",
    (Number("n", "Free: every", min_value=2, max_value=99), Ids("product_ids", "of products (ids)")),
)


@dataclass(frozen=True, slots=True)
class EveryNthConfig:
    n: int
    target: Target


class EveryNth(ByQuantity):
    """Every n-th unit is free, the cheapest first."""

    type = "every_nth"
    stage = Stage.DEALS
    column = "config"
    config = EVERY_NTH
    config_label = "Every n-th"
    config_help = "The cheapest units are free."
    worth_nothing = "The cart has too few units for one to be free."
    hidden = ByQuantity.hidden | {"applies_to", "product_ids", "variant_ids"}
    form_values = {"applies_to": "order"}

    def parse(self, config) -> EveryNthConfig:
        return EveryNthConfig(config["n"], Target.from_json(config))

    def cut(self, rule: Rule, config: EveryNthConfig, remaining: Remaining) -> Cut:
        lines = remaining.basket.lines
        positions = sorted(config.target.positions(lines), key=lambda position: lines[position].unit_price)
        free = sum(lines[position].quantity for position in positions) // config.n
        return dict(self._free(free, positions, lines))

    def _free(self, free: int, positions: Sequence[int], lines):
        for position in positions:
            units = min(free, lines[position].quantity)
            free -= units
            yield position, lines[position].price_of(units)


class HalfPrice(ByQuantity):
    """A second type, so that two share the column."""

    type = "half_price"
    stage = Stage.TIERS
    column = "config"
    config = Group("HalfPrice", (Number("from_units", "Half price from", min_value=1),))


def name_of(mechanic):
    return f"{mechanic.__module__}.{mechanic.__qualname__}"


@pytest.fixture(params=[[EveryNth], [EveryNth, HalfPrice]], ids=["alone", "beside another"])
def installation(request, settings, monkeypatch):
    """An installation with more types. Its answers are compared with its own document.

    Schemas are cached because settings don't change while a process runs.
    """
    settings.DISCOUNT_MECHANICS = [*settings.DISCOUNT_MECHANICS, *map(name_of, request.param)]
    _forget_schemas()
    document = _document(tuple(settings.DISCOUNT_MECHANICS))
    monkeypatch.setattr(openapi, "document", lambda: document)
    yield document
    _forget_schemas()


@cache
def _document(mechanics):
    return orjson.loads(orjson.dumps(SchemaGenerator().get_schema(request=None, public=True)))


def _forget_schemas():
    for cached in (
        unknown_fields._list_names,
        versioning.nested_schemas,
        openapi._document_of,
        openapi._routes,
        openapi._closed_components,
        openapi._validator,
    ):
        cached.cache_clear()
    # Views hold serializers, which cache their fields once they are read.
    for serializer in gc.get_objects():
        if issubclass(type(serializer), serializers.Serializer):
            serializer.__dict__.pop("fields", None)


pytestmark = pytest.mark.usefixtures("installation")

THIRD_FREE = {"type": "every_nth", "title": "Third free", "code": "THIRD", "config": {"n": 3}}


def create(shop, **fields):
    return shop.admin.post("discounts.json", THIRD_FREE | fields)


@pytest.fixture
def third_free(shop):
    answer = create(shop)
    assert answer.status_code == 201, answer.content
    return answer.json()["discount"]


def test_new_type_lowers_an_order_from_the_code_to_its_completion(shop, third_free):
    lines = [
        (factories.make_variant(shop, price_cents=price), units) for price, units in ((2000, 4), (999, 2))
    ]
    rate = factories.make_rate(shop, price_cents=490)
    checkout = enter_checkout(shop, *lines)

    entered = shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": "third"})
    for step in ("address", "shipping", "payment", "processing", "ready", "completed"):
        take_step(step, shop, checkout["token"], rate=rate)

    shown = entered.json()["checkout"]
    assert [(each["type"], each["amount_cents"]) for each in shown["discount_codes"]] == [
        ("every_nth", "1998")
    ]
    assert [each["discount_cents"] for each in shown["line_items"]] == ["0", "1998"]
    with shop.scope():
        order = Order.objects.get()
        (use,) = DiscountRedemption.objects.all()
        assert (order.discount_cents, use.amount_cents) == (1998, 1998)
        assert Discount.objects.get().usage_count == 1


def test_new_type_is_created_read_and_changed(shop, third_free):
    product = factories.make_product(shop)
    path = f"discounts/{third_free['id']}.json"

    changed = shop.admin.put(path, {"config": {"n": 4, "product_ids": [product.pk]}})

    assert "X-Unknown-Fields" not in changed
    assert (third_free["type"], third_free["config"]) == ("every_nth", {"n": 3, "product_ids": []})
    shown = shop.admin.get(path).json()["discount"]
    assert shown["config"] == {"n": 4, "product_ids": [str(product.pk)]}
    assert (shown["value_mode"], shown["bogo_config"]) == (None, None)
    listed = shop.admin.get("discounts.json?type=every_nth").json()["discounts"]
    assert [each["config"]["n"] for each in listed] == [4]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"config": None}, ("config", "required")),
        ({"config": {}}, ("config.n", "required")),
        ({"config": {"n": 1}}, ("config.n", "min_value")),
        ({"config": {"n": "3"}}, ("config.n", "invalid")),
        ({"config": 3}, ("config", "invalid")),
        ({"config": {"n": 3, "product_ids": [1, 999_999]}}, ("config.product_ids.1", "not_found")),
        ({"applies_to": "shipping"}, ("applies_to", "not_allowed")),
        ({"type": "discount_code", "value_mode": "free"}, ("config", "not_allowed")),
        ({"type": "every_mth"}, ("type", "invalid_choice")),
    ],
)
def test_config_that_makes_no_sense_is_refused(shop, third_free, fields, error):
    answer = create(shop, code="OTHER", **fields)

    assert answer.status_code == 422
    assert error in [(each["field"], each["code"]) for each in answer.json()["errors"]]
    with shop.scope():
        assert [row.code for row in Discount.objects.all()] == ["THIRD"]


def test_refused_change_changes_nothing(shop, third_free):
    path = f"discounts/{third_free['id']}.json"

    answer = shop.admin.put(path, {"title": "Changed", "config": {"n": 0}})

    assert [(each["field"], each["code"]) for each in answer.json()["errors"]] == [("config.n", "min_value")]
    assert shop.admin.get(path).json()["discount"] == third_free


FORM = {"title": "Third free", "type": "every_nth", "code": "THIRD", "config_0": 3}


def test_new_type_is_added_and_changed_in_the_back_office(shop, owner):  # noqa: F811  the fixture
    product = factories.make_product(shop)
    page = owner.get("discounts/discount/add/")
    assert ("every_nth", "Every Nth") in page.context["adminform"].form.fields["type"].choices
    assert "Free: every" in page.content.decode()

    owner.fill("discounts/discount/add/", **FORM, config_1=str(product.pk))
    with shop.scope():
        added = Discount.objects.get()
    answer = owner.fill(f"discounts/discount/{added.pk}/change/", title="Renamed")
    refused = owner.fill(f"discounts/discount/{added.pk}/change/", config_0=1)
    owner.fill(f"discounts/discount/{added.pk}/change/", config_0=5)

    assert added.config == {"n": 3, "product_ids": [product.pk]}
    assert answer.status_code == 302
    assert refused.context["adminform"].form.errors == {"config": ["n: Must be at least 2."]}
    with shop.scope():
        changed = Discount.objects.get()
    assert (changed.title, changed.config) == ("Renamed", {"n": 5, "product_ids": [product.pk]})


@pytest.mark.parametrize(
    ("n", "error"), [("", "Required for the type every_nth."), (1, "n: Must be at least 2.")]
)
def test_form_names_what_is_wrong(shop, owner, n, error):  # noqa: F811  the fixture
    answer = owner.fill("discounts/discount/add/", **FORM | {"config_0": n})

    assert answer.context["adminform"].form.errors == {"config": [error]}
    with shop.scope():
        assert not Discount.objects.exists()


def test_trial_page_explains_the_new_type(shop, support, third_free):  # noqa: F811  the fixture
    variant = factories.make_variant(shop, price_cents=1000)

    pages = [support.get(PAGE, cart=cart_with(shop, (variant, units)), codes="third") for units in (2, 3)]

    shown = [rows(page, "Discounts") for page in pages]
    assert shown == [
        [["Third free", "Every Nth", "THIRD", "-", "The cart has too few units for one to be free."]],
        [["Third free", "Every Nth", "THIRD", "€10.00", ""]],
    ]


def test_document_describes_the_new_type(installation):
    schemas = installation["components"]["schemas"]

    assert "every_nth" in schemas["DiscountInputRequest"]["properties"]["type"]["enum"]
    assert schemas["EveryNthInputRequest"]["required"] == ["n"]
    assert schemas["EveryNthInputRequest"]["properties"]["n"] == {
        "type": "integer",
        "minimum": 2,
        "maximum": 99,
    }
    assert set(schemas["EveryNthOutput"]["properties"]) == {"n", "product_ids"}


def test_discount_of_a_type_that_was_removed_takes_nothing_off(shop, support, settings, third_free):  # noqa: F811
    checkout = checkout_in("shipping", shop, (factories.make_variant(shop, price_cents=1000), 3))
    entered = shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": "THIRD"})
    assert entered.json()["checkout"]["totals"]["discount_cents"] == "1000"
    settings.DISCOUNT_MECHANICS = [name for name in settings.DISCOUNT_MECHANICS if __name__ not in name]
    _forget_schemas()

    repriced = shop.storefront.put(
        f"checkouts/{checkout['token']}/payment_method.json", {"payment_method": "cod"}
    )
    other = enter_checkout(shop, (factories.make_variant(shop), 3))
    refused = shop.storefront.post(f"checkouts/{other['token']}/discount.json", {"code": "THIRD"})

    assert repriced.json()["checkout"]["totals"]["discount_cents"] == "0"
    assert problem(refused)[1:] == ("discount_not_active",)
    with shop.scope():
        assert Checkout.objects.get(token=other["token"]).discount_codes == []
    (tried,) = rows(
        support.get(PAGE, cart=cart_with(shop, (factories.make_variant(shop), 1)), codes="THIRD"), "Disc"
    )
    assert tried[4] == "The type every_nth is not available any more."


@MANY
@given(baskets())
def test_new_type_conserves_every_cent(of):
    free = rule(1, type="every_nth", config={"n": 3, "product_ids": []})
    rest = rule(2, value_mode="percentage", value_amount=3333)

    evaluation = evaluate(of, automatic=[free, rest], entered=[], shopper=NOBODY, now=NOW)

    assert sum(each.amount_cents for each in evaluation.applied) == sum(evaluation.line_discounts)
    for each, off_cents in zip(of.lines, evaluation.line_discounts, strict=True):
        assert 0 <= off_cents <= each.price_cents


def test_more_than_a_line_costs_is_never_taken(monkeypatch):
    monkeypatch.setattr(EveryNth, "cut", lambda self, rule, config, remaining: {0: 10**6, 1: -5})

    evaluation = evaluate(
        basket(line(1000, 2), line(500)),
        automatic=[rule(1, type="every_nth", config={"n": 3})],
        entered=[],
        shopper=NOBODY,
        now=NOW,
    )

    assert evaluation.line_discounts == (2000, 0)

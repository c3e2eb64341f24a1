"""Baskets and rules from small sets of values, so that they often match."""

from hypothesis import settings
from hypothesis import strategies as st

from commerce.money import tax_within
from discounts.evaluation import Basket, Line, Shopper
from tests.discounts.baskets import NOW, rule

# Times the examples of the profile, so that one with more of them (`--hypothesis-profile=long`) counts here too.
MANY = settings(max_examples=10 * settings.default.max_examples, deadline=None)
SOME = settings(max_examples=3 * settings.default.max_examples, deadline=None)

PRODUCT_IDS = st.integers(1, 3)
TARGETS = st.fixed_dictionaries(
    {
        "product_ids": st.lists(PRODUCT_IDS, max_size=2),
        "variant_ids": st.lists(st.integers(11, 33), max_size=1),
    }
)
UNIT_PRICES = st.one_of(st.integers(0, 12), st.integers(0, 3000), st.sampled_from([1000, 10**9]))
QUANTITIES = st.one_of(st.integers(1, 6), st.sampled_from([500, 9999]))
MODES = ("percentage", "fixed_amount", "set_price", "free")


@st.composite
def lines(draw, quantities=QUANTITIES):
    """Prices without tax need not be divisible by the quantity."""
    product_id, quantity = draw(PRODUCT_IDS), draw(quantities)
    variant_id = 10 * product_id + draw(st.integers(1, 2))
    price_cents = draw(UNIT_PRICES) * quantity
    if draw(st.booleans()):
        price_cents -= tax_within(price_cents, 1900)
    return Line(variant_id, product_id, quantity, price_cents)


def line_tuples(max_size=5, **kinds):
    return st.lists(lines(**kinds), max_size=max_size).map(tuple)


def baskets(of_lines=None):
    shipping = st.none() | st.integers(0, 2000)
    return st.builds(Basket, of_lines or line_tuples(), st.just("EUR"), st.just(7), shipping)


@st.composite
def values(draw, modes=MODES):
    mode = draw(st.sampled_from(modes))
    amounts = {"percentage": st.integers(0, 10_000), "free": st.none()}
    amount = draw(amounts.get(mode, st.integers(0, 50) | st.integers(0, 5000)))
    return {"value_mode": mode, "value_amount": amount}


@st.composite
def bogo_configs(draw, modes=MODES):
    buy, get = ({"quantity": draw(st.integers(1, 3))} | draw(TARGETS) for _ in "bg")
    limit = draw(st.none() | st.integers(1, 4))
    return {"buy": buy, "get": get, "max_applications": limit} | draw(values(modes))


@st.composite
def bulk_configs(draw):
    thresholds = draw(st.lists(st.integers(1, 8), min_size=1, max_size=3, unique=True))
    tiers = [{"min_quantity": threshold} | draw(values()) for threshold in thresholds]
    return {"scope": draw(st.sampled_from(["line", "order"])), "tiers": tiers}


@st.composite
def effects(draw, modes=MODES):
    """The columns that determine what a rule takes off."""
    kind = draw(st.sampled_from(["bogo", "bulk", "shipping", "order", "line_items"]))
    if kind == "bogo":
        return {"type": "buy_x_get_y", "bogo_config": draw(bogo_configs(modes))}
    if kind == "bulk":
        return {"type": "bulk_pricing", "bulk_tiers": draw(bulk_configs())} | draw(TARGETS)
    if kind == "shipping":
        return {"type": "shipping_discount", "applies_to": "shipping"} | draw(values())
    rule_type = draw(st.sampled_from(["automatic_discount", "discount_code"]))
    return {"type": rule_type, "applies_to": kind} | draw(TARGETS) | draw(values())


CONDITIONS = st.fixed_dictionaries(
    {"stackable": st.booleans()},
    optional={
        "minimum_order_subtotal_cents": st.integers(0, 3000),
        "ends_at": st.just(NOW),
        "currency": st.sampled_from(["EUR", "CZK"]),
        "usage_limit_per_customer": st.integers(1, 2),
        "first_order_only": st.booleans(),
    },
)
SHOPPERS = st.builds(
    Shopper,
    has_ordered=st.booleans(),
    uses=st.dictionaries(st.integers(1, 10), st.integers(1, 2), max_size=3),
)


@st.composite
def rules(draw, ids, **fixed):
    return rule(draw(ids), **draw(effects()) | draw(CONDITIONS) | fixed)


def rule_lists(ids, **fixed):
    return st.lists(rules(ids, **fixed), max_size=3, unique_by=lambda each: each.id)


AUTOMATIC = rule_lists(st.integers(1, 10))
ENTERED = rule_lists(st.integers(11, 20), code="CODE")

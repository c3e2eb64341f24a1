"""Pick lists of the discount's page: rows are chosen by name, and stored as ids."""

import re

import pytest

from accounts.models import Market
from commerce.catalog.models import Product
from commerce.customers.models import Segment
from discounts.models import Discount
from tests import factories
from tests.backoffice.clients import make_role, make_staff
from tests.backoffice.discounts import ADD, BOGO, CODE, add_discount, change_path, errors_of, only_row
from tests.backoffice.stale import conflict_message

_ROW = re.compile(r'<input type="checkbox" name="(\w+)" value="(\d+)"( checked)? [^>]*><span>(.*?)</span>')


def rows_of(page, name):
    """The rows of a pick list: id, title, and whether it is chosen."""
    rows = _ROW.findall(page.content.decode())
    return [(int(row_id), title, bool(checked)) for named, row_id, checked, title in rows if named == name]


@pytest.fixture
def customer(shop):
    return factories.make_customer(shop, email="Ada@example.com", first_name="Ada", last_name="Byron")


@pytest.fixture
def product(shop):
    return factories.make_product(shop, title="Mug", handle="mug")


@pytest.fixture
def variant(shop, product):
    return factories.make_variant(shop, product=product, sku="MUG-R", title="Red")


@pytest.fixture
def segment(shop):
    with shop.scope():
        return Segment.objects.create(handle="vips", name="VIPs")


@pytest.fixture
def chosen(product, variant, customer, segment, shop):
    """The ids of a row of each kind, by the names of the lists."""
    return {
        "product_ids": [product.pk],
        "variant_ids": [variant.pk],
        "market_ids": [shop.market.pk],
        "segment_ids": [segment.pk],
        "customer_ids": [customer.pk],
    }


TITLES = {
    "product_ids": "Mug (mug)",
    "variant_ids": "MUG-R (Mug, Red)",
    "segment_ids": "VIPs (vips)",
    "customer_ids": "Ada@example.com (Ada Byron)",
}


def test_chosen_rows_are_shown_by_name(shop, owner, chosen):
    discount = add_discount(shop, **chosen)

    page = owner.get(change_path(discount))

    titles = TITLES | {"market_ids": f"{shop.market.name} ({shop.market.handle})"}
    for name, ids in chosen.items():
        assert rows_of(page, name) == [(ids[0], titles[name], True)]


def test_chosen_rows_are_shown_by_name_where_they_can_not_be_changed(shop, support, chosen):
    discount = add_discount(shop, **chosen)

    text = support.get(change_path(discount)).content.decode()

    assert all(f"<div>{title}</div>" in text for title in TITLES.values())


def test_few_rows_are_all_offered_and_sorted(shop, owner):
    with shop.scope():
        second = Market.objects.create(
            name="Austria", handle="at", currency="EUR", locale="de-AT", country_code="AT"
        )

    page = owner.get(ADD)

    assert rows_of(page, "market_ids") == [
        (second.pk, "Austria (at)", False),
        (shop.market.pk, f"{shop.market.name} ({shop.market.handle})", False),
    ]
    assert 'name="market_ids_keys"' not in page.content.decode()


def test_many_rows_of_a_kind_that_is_usually_few_are_searched(shop, owner):
    with shop.scope():
        for number in range(31):
            Segment.objects.create(handle=f"segment-{number}", name=f"Segment {number}")

    page = owner.get(ADD)
    owner.fill(ADD, **CODE, customer_eligibility="segments", segment_ids_keys="segment-7")

    assert rows_of(page, "segment_ids") == []
    assert 'name="segment_ids_keys"' in page.content.decode()
    with shop.scope():
        assert Discount.objects.get().segment_ids == [Segment.objects.get(handle="segment-7").pk]


def test_rows_are_sent_one_by_one_or_joined_by_the_script(shop, owner):
    ids = [factories.make_product(shop).pk for _ in range(3)]

    owner.fill(ADD, **CODE, product_ids=ids)
    owner.fill(ADD, **CODE | {"code": "OTHER"}, product_ids="{},{},{}".format(*ids))

    with shop.scope():
        assert [row.product_ids for row in Discount.objects.all()] == [ids, ids]


def test_rows_are_added_by_what_people_call_them(shop, owner, product, variant, customer):
    other = factories.make_product(shop, handle="cup")
    keys = {
        "product_ids_keys": "cup\r\n\r\n MUG-R \r\n",
        "variant_ids_keys": "MUG-R",
        "customer_ids_keys": " ADA@Example.com",
    }

    owner.fill(ADD, **CODE, **keys, product_ids=str(other.pk))

    row = only_row(shop)
    assert (row.product_ids, row.variant_ids, row.customer_ids) == (
        [other.pk, product.pk],
        [variant.pk],
        [customer.pk],
    )


def test_what_is_not_found_is_named_and_stays_as_it_was_typed(shop, other_shop, owner):
    factories.make_variant(other_shop, sku="FOREIGN")

    answer = owner.fill(ADD, **CODE, variant_ids_keys="FOREIGN\r\nnul\0")

    assert errors_of(answer) == {"variant_ids": ["Not found: FOREIGN, nul\0."]}
    assert ">FOREIGN\nnul\0</textarea>" in answer.content.decode()


def test_more_lines_than_a_list_may_have_are_refused(owner):
    answer = owner.fill(ADD, **CODE, variant_ids_keys="\n".join(map(str, range(1001))))

    assert errors_of(answer) == {"variant_ids": ["At most 1000 lines."]}


def test_unticked_rows_are_removed(shop, owner, chosen):
    discount = add_discount(shop, **chosen)

    owner.fill(change_path(discount), **dict.fromkeys(chosen))

    row = only_row(shop)
    assert [getattr(row, name) for name in chosen] == [[]] * 5


def test_page_sent_back_as_it_was_changes_nothing(shop, owner, chosen):
    discount = add_discount(shop, **chosen | {"product_ids": [*chosen["product_ids"], 999_999] * 2})
    before = only_row(shop)

    answer = owner.fill(change_path(discount))

    assert answer.status_code == 302
    after = only_row(shop)
    assert (after.updated_at, after.product_ids) == (before.updated_at, before.product_ids)


def test_deleted_row_is_shown_and_must_be_removed_before_the_list_changes(shop, owner, product):
    other = factories.make_product(shop)
    discount = add_discount(shop, product_ids=[product.pk, 999_999])

    page = owner.get(change_path(discount))
    refused = owner.fill(change_path(discount), product_ids=[product.pk, 999_999, other.pk])
    kept = only_row(shop).product_ids
    owner.fill(change_path(discount), product_ids=[product.pk])

    assert rows_of(page, "product_ids") == [
        (product.pk, "Mug (mug)", True),
        (999_999, "999999 (deleted)", True),
    ]
    assert errors_of(refused) == {"product_ids": ["No longer in this shop: 999999. Untick these first."]}
    assert [row_id for row_id, _title, _chosen in rows_of(refused, "product_ids")] == [
        product.pk,
        999_999,
        other.pk,
    ]
    assert kept == [product.pk, 999_999]
    assert only_row(shop).product_ids == [product.pk]


def test_row_of_another_shop_looks_deleted(shop, other_shop, owner):
    foreign = factories.make_product(other_shop, title="Secret")
    discount = add_discount(shop, product_ids=[foreign.pk])

    page = owner.get(change_path(discount))

    assert rows_of(page, "product_ids") == [(foreign.pk, f"{foreign.pk} (deleted)", True)]
    assert "Secret" not in page.content.decode()


def test_list_that_somebody_else_changed_is_shown_by_name(shop, owner, product):
    other = factories.make_product(shop, title="Cup", handle="cup")
    discount = add_discount(shop)
    sent = owner.get(change_path(discount))
    with shop.scope():
        Discount.objects.update(product_ids=[product.pk, other.pk])

    answer = owner.post(
        change_path(discount),
        {"_shown": sent.context["shown"], "product_ids": [other.pk], **CODE, "customer_eligibility": "all"}
        | {"applies_to": "order", "status": "active", "minimum_order_subtotal_cents": "0"},
    )

    assert errors_of(answer)["product_ids"] == [conflict_message("Products", "Mug (mug), Cup (cup)")]


def test_deal_names_its_products(shop, owner, product, variant):
    owner.fill(ADD, **BOGO, bogo_config_1_keys="mug", bogo_config_5=[variant.pk])

    config = only_row(shop).bogo_config
    page = owner.get(change_path(only_row(shop)))
    owner.fill(change_path(only_row(shop)), bogo_config_5=None)

    assert (config["buy"]["product_ids"], config["get"]["variant_ids"]) == ([product.pk], [variant.pk])
    assert rows_of(page, "bogo_config_1") == [(product.pk, "Mug (mug)", True)]
    assert rows_of(page, "bogo_config_5") == [(variant.pk, "MUG-R (Mug, Red)", True)]
    assert only_row(shop).bogo_config["get"]["variant_ids"] == []


def test_deleted_product_of_a_deal_is_named(shop, owner, product):
    answer = owner.fill(ADD, **BOGO, bogo_config_1=[product.pk, 999_999])

    assert errors_of(answer) == {"bogo_config": ["No longer in this shop: 999999. Untick these first."]}


def test_role_that_does_not_see_products_sees_numbers_and_can_only_remove_them(shop, product, variant):
    discount = add_discount(shop, product_ids=[product.pk], variant_ids=[variant.pk])
    role = make_role(shop, "read_discounts", "write_discounts")
    member = make_staff(shop, role=str(role.pk))

    page = member.get(change_path(discount))
    member.fill(change_path(discount), variant_ids=None)
    refused = member.fill(change_path(discount), product_ids_keys="mug")
    found = member.get("autocomplete/", app_label="catalog", model_name="product", term="Mug")

    assert rows_of(page, "product_ids") == [(product.pk, str(product.pk), True)]
    assert "Mug" not in page.content.decode()
    assert (only_row(shop).product_ids, only_row(shop).variant_ids) == ([product.pk], [])
    assert errors_of(refused) == {"product_ids": ["Your role in this shop doesn't allow this."]}
    assert found.status_code == 403


def search(client, model, term):
    app_label, model_name = model.split(".")
    answer = client.get("autocomplete/", app_label=app_label, model_name=model_name, term=term)
    return [row["text"] for row in answer.json()["results"]]


def test_search_finds_rows_as_people_call_them(shop, other_shop, owner, variant, customer, segment):
    factories.make_variant(other_shop, sku="MUG-R")
    factories.make_customer(other_shop, email="ada@example.com")

    found = [
        search(owner, "catalog.product", "MUG-R"),
        search(owner, "catalog.product", "mu"),
        search(owner, "catalog.variant", "mug"),
        search(owner, "customers.customer", "ada@"),
        search(owner, "customers.customer", "Byr"),
        search(owner, "customers.segment", "vip"),
        search(owner, "catalog.product", "nothing\0"),
    ]

    assert found == [
        ["Mug (mug)"],
        ["Mug (mug)"],
        ["MUG-R (Mug, Red)"],
        ["Ada@example.com (Ada Byron)"],
        ["Ada@example.com (Ada Byron)"],
        ["VIPs (vips)"],
        [],
    ]


def test_archived_rows_are_marked(shop, owner, product, variant):
    owner.act_on_all("catalog/variant/", "archive", variant.pk)
    factories.make_variant(shop, product=product, sku="MUG-R", title="Red again")

    found = search(owner, "catalog.variant", "MUG-R")

    assert found == ["MUG-R (Mug, Red again)", "MUG-R (Mug, Red), archived"]


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"app_label": "catalog", "model_name": "nothing"},
        {"app_label": "auth", "model_name": "group"},
        {"app_label": "accounts", "model_name": "user"},
        {"app_label": "discounts", "model_name": "discountredemption", "field_name": "nothing"},
    ],
)
def test_search_of_other_tables_is_refused(owner, query):
    assert owner.get("autocomplete/", **query).status_code == 403


@pytest.mark.parametrize("model", ["catalog.product", "catalog.variant", "customers.customer"])
def test_search_takes_a_fixed_number_of_statements(shop, owner, model, django_assert_num_queries):
    counts = []
    # The first page of a session takes more.
    owner.get()
    for number in (2, 9):
        for index in range(number):
            product = factories.make_product(shop, title=f"Tea {number} {index}")
            factories.make_variant(shop, product=product, sku=f"Tea-{number}-{index}")
            factories.make_customer(shop, email=f"tea-{number}-{index}@example.com")
        with django_assert_num_queries(10):
            counts.append(len(search(owner, model, "Tea")))

    assert counts == [2, 11]


@pytest.mark.parametrize("number", [1, 12])
def test_page_takes_a_fixed_number_of_statements(
    shop, owner, customer, segment, django_assert_max_num_queries, number
):
    variants = [factories.make_variant(shop) for _ in range(number)]
    with shop.scope():
        products = list(Product.objects.values_list("pk", flat=True))
    ids = {"product_ids": products, "variant_ids": [variant.pk for variant in variants]}
    lists = ids | {"market_ids": [shop.market.pk], "segment_ids": [segment.pk]}
    config = {"buy": {"quantity": 2} | ids, "get": {"quantity": 1} | ids}
    discount = factories.make_discount(
        shop,
        type="buy_x_get_y",
        value_mode=None,
        value_amount=None,
        **lists | {"customer_ids": [customer.pk]},
        bogo_config=config | {"value_mode": "free", "value_amount": None, "max_applications": None},
    )

    with django_assert_max_num_queries(21):
        page = owner.get(change_path(discount))

    assert len(rows_of(page, "bogo_config_4")) == number


def lines_of(page):
    return re.findall(r"<div>([^<]*)</div>", page.content.decode())


def test_deal_is_explained_where_it_can_not_be_changed(shop, owner, support, product, variant):
    owner.fill(
        ADD,
        **BOGO | {"bogo_config_6": "fixed_amount", "bogo_config_7": "1.50", "currency": "EUR"},
        bogo_config_1=[product.pk],
        bogo_config_5=[variant.pk],
        bogo_config_8="3",
    )

    page = support.get(change_path(only_row(shop)))

    assert lines_of(page) == [
        "Buy: units: 2; of these products: Mug (mug)",
        "Get: units: 1; or variants: MUG-R (Mug, Red)",
        "Reduced by: Fixed Amount; Percentage or amount: €1.50; Times in one order at most: 3",
    ]


def test_tiers_are_explained_where_they_can_not_be_changed(shop, owner, support):
    tiers = {"bulk_tiers_0": "order", "bulk_tiers_1": 1200, "bulk_tiers_2": "percentage", "bulk_tiers_3": "5"}
    owner.fill(ADD, title="By the dozen", type="bulk_pricing", **tiers)

    page = support.get(change_path(only_row(shop)))

    assert lines_of(page) == [
        "Counted: Quantity of all lines",
        "From units: 1,200; each reduced by: Percentage; Percentage or amount: 5 %",
    ]


def test_deal_names_no_rows_that_the_role_does_not_see(shop, owner, product):
    owner.fill(ADD, **BOGO, bogo_config_1=[product.pk])
    role = make_role(shop, "read_discounts")
    reader = make_staff(shop, role=str(role.pk))

    page = reader.get(change_path(only_row(shop)))

    assert lines_of(page)[0] == f"Buy: units: 2; of these products: {product.pk}"

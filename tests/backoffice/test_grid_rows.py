"""Which rows the grids of prices and stock have."""

import pytest
from django.utils import timezone

from commerce.catalog.operations import archive_variant, update_product
from tests import factories
from tests.backoffice.clients import messages_of
from tests.backoffice.grids import COMPARED, PRICES, STOCK


def test_archived_variants_are_left_out(shop, owner, monkeypatch):
    monkeypatch.setattr("commerce.backoffice.grids.MAX_CELLS", 1)
    mug, cup = (factories.make_variant(shop) for _ in range(2))
    with shop.scope():
        archive_variant(variant_id=cup.pk, now=timezone.now())

    page = owner.get(PRICES)

    assert [line["row"].id for line in page.context["rows"]] == [mug.pk]
    assert not page.context["found"].multi_page


@pytest.mark.parametrize("path", [PRICES, COMPARED, STOCK])
def test_grid_takes_a_fixed_number_of_statements(shop, owner, path, django_assert_num_queries):
    # The first request of a session also notes it.
    owner.get()
    for count in (1, 20):
        for _ in range(count):
            factories.make_variant(shop, price_cents=1990, stock=3)
        # Those of every page, the list's count and rows, columns, and two for the cells.
        with django_assert_num_queries(9 + 2 + 1 + 2):
            owner.get(path)


def test_grid_is_paged_by_its_cells(shop, owner, monkeypatch):
    monkeypatch.setattr("commerce.backoffice.grids.MAX_CELLS", 4)
    variants = [factories.make_variant(shop) for _ in range(5)]

    first, second = (owner.get(PRICES, p=page) for page in (1, 2))

    shown = [[line["row"].id for line in page.context["rows"]] for page in (first, second)]
    assert shown == [[row.pk for row in reversed(variants[1:])], [variants[0].pk]]


def test_selected_rows_and_searches_open_in_a_grid(shop, owner):
    mug, cup = factories.make_variant(shop, sku="MUG-1"), factories.make_variant(shop, sku="CUP-1")

    one = owner.act("catalog/variant/", "edit_prices", mug.pk)
    found = owner.post(
        "catalog/variant/?q=CUP",
        {"action": "edit_stock", "_selected_action": [cup.pk], "select_across": 1, "index": 0},
    )
    of_product = owner.act("catalog/product/", "edit_prices", cup.product_id)

    pages = [owner.browser.get(answer["Location"]) for answer in (one, found, of_product)]
    assert [[line["row"].title for line in page.context["rows"]] for page in pages] == [
        ["MUG-1"],
        ["CUP-1"],
        ["CUP-1"],
    ]


def test_grid_of_all_products_that_a_filter_finds_has_their_variants(shop, owner):
    sold = factories.make_variant(shop, sku="SOLD")
    hidden = factories.make_variant(shop, sku="HIDDEN")
    with shop.scope():
        update_product(product_id=hidden.product_id, changes={"status": "draft"}, now=timezone.now())
    sent = {"action": "edit_prices", "_selected_action": [sold.product_id], "select_across": 1, "index": 0}

    answer = owner.post("catalog/product/?status__exact=active", sent)

    page = owner.browser.get(answer["Location"])
    assert [line["row"].title for line in page.context["rows"]] == ["SOLD"]


def test_too_many_products_for_a_grid_are_refused(shop, owner, monkeypatch):
    monkeypatch.setattr("commerce.backoffice.grids.MAX_IDS", 1)
    ids = [factories.make_product(shop).pk for _ in range(2)]

    answer = owner.act("catalog/product/", "edit_prices", *ids)

    assert answer["Location"] == "/backoffice/catalog/product/"
    assert messages_of(answer) == ["Select at most 1 rows."]

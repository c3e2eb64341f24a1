"""Grids of prices and stock: what would change is shown first, conflicts by cell, and nothing is half-done."""

import pytest
from django.core import signing
from django.utils import timezone

from accounts.models import Market
from commerce.backoffice.models import StaffAction
from commerce.catalog.models import VariantPricing
from commerce.catalog.operations import archive_variant, update_product
from commerce.inventory.models import InventoryAdjustment, InventoryLevel, Location
from tests import factories
from tests.backoffice.clients import messages_of

PRICES = "catalog/variant/prices/"
COMPARED = "catalog/variant/compared-prices/"
STOCK = "inventory/inventorylevel/grid/"


@pytest.fixture
def japan(shop):
    with shop.scope():
        return Market.objects.create(
            handle="jp", name="Japan", currency="JPY", locale="ja-JP", country_code="JP"
        )


def cell(row, column):
    return f"cell-{row.pk}-{column.pk}"


def sent_by(page, **changes):
    """Return what a browser sends for a grid, with some cells changed."""
    form = page.context["form"]
    sent = {name: form[name].value() or "" for name in form.fields}
    options = page.context["options"]
    if options is not None:
        sent |= {field.html_name: field.value() for field in options}
    return sent | {"_shown": page.context["shown"]} | changes


def confirmed(preview):
    return preview.context["sent"] | {"_shown": preview.context["shown"], "save": "1"}


def prices_of(shop):
    with shop.scope():
        rows = VariantPricing.objects.order_by("variant_id", "market_id")
        return list(rows.values_list("variant_id", "market__currency", "price_cents"))


def test_prices_are_changed_after_a_preview(shop, owner, japan):
    mug = factories.make_variant(shop, sku="MUG-1", price_cents=1990)
    cup = factories.make_variant(shop, sku="CUP-1", price_cents=None)
    changes = {cell(mug, shop.market): "17,90", cell(mug, japan): "¥2,000", cell(cup, shop.market): "5"}

    preview = owner.post(PRICES, sent_by(owner.get(PRICES), **changes))
    before = prices_of(shop)
    answer = owner.post(PRICES, confirmed(preview))

    shown = {
        (each.row.title, each.column.title): (each.before, each.after) for each in preview.context["changes"]
    }
    assert shown == {
        ("MUG-1", shop.market.name): ("€19.90", "€17.90"),
        ("MUG-1", "Japan"): ("-", "¥2,000"),
        ("CUP-1", shop.market.name): ("-", "€5.00"),
    }
    assert before == [(mug.pk, "EUR", 1990)]
    assert messages_of(answer) == ["3 values were changed."]
    assert prices_of(shop) == [(mug.pk, "EUR", 1790), (mug.pk, "JPY", 2000), (cup.pk, "EUR", 500)]
    with shop.scope():
        logged = dict(StaffAction.objects.values_list("subject_id", "changes"))
    name = shop.market.name
    assert logged == {
        mug.pk: [
            {"field": f"Prices: {name}", "before": "€19.90", "after": "€17.90"},
            {"field": "Prices: Japan", "before": "", "after": "¥2,000"},
        ],
        cup.pk: [{"field": f"Prices: {name}", "before": "", "after": "€5.00"}],
    }


def test_price_keeps_its_compare_at_price(shop, owner):
    mug = factories.make_variant(shop, price_cents=1990)
    with shop.scope():
        VariantPricing.objects.update(compare_at_price_cents=2990)

    for path, text in ((PRICES, "15"), (COMPARED, "25"), (COMPARED, "")):
        page = owner.get(path)
        owner.post(path, confirmed(owner.post(path, sent_by(page, **{cell(mug, shop.market): text}))))
        with shop.scope():
            price = VariantPricing.objects.get()
        expected = {"15": (1500, 2990), "25": (1500, 2500), "": (1500, None)}[text]
        assert (price.price_cents, price.compare_at_price_cents) == expected


def test_cell_that_is_no_amount_is_marked_and_nothing_is_saved(shop, owner, japan):
    mug = factories.make_variant(shop, price_cents=1990)
    changes = {cell(mug, shop.market): "17.90", cell(mug, japan): "9.50"}

    answer = owner.post(PRICES, sent_by(owner.get(PRICES), **changes) | {"save": "1"})

    assert answer.context["form"].errors == {cell(mug, japan): ["Amounts in JPY have no decimals."]}
    assert answer.context["form"][cell(mug, shop.market)].value() == "17.90"
    assert prices_of(shop) == [(mug.pk, "EUR", 1990)]


@pytest.mark.parametrize("text", ["", "-1", "99999999999"])
def test_price_that_the_operation_refuses_is_marked_and_nothing_is_saved(shop, owner, text):
    mug, cup = (factories.make_variant(shop, price_cents=1990) for _ in range(2))
    changes = {cell(mug, shop.market): text, cell(cup, shop.market): "5"}

    answer = owner.post(PRICES, sent_by(owner.get(PRICES), **changes) | {"save": "1"})

    assert list(answer.context["form"].errors) == [cell(mug, shop.market)]
    assert [cents for *_, cents in prices_of(shop)] == [1990, 1990]
    with shop.scope():
        assert not StaffAction.objects.exists()


def test_cell_that_somebody_else_changed_is_shown_and_nothing_is_saved(shop, owner):
    mug, cup = (factories.make_variant(shop, price_cents=1990) for _ in range(2))
    preview = owner.post(
        PRICES,
        sent_by(owner.get(PRICES), **{cell(mug, shop.market): "17", cell(cup, shop.market): "18"}),
    )
    with shop.scope():
        VariantPricing.objects.filter(variant=mug).update(price_cents=2500)

    refused = owner.post(PRICES, confirmed(preview))
    before = prices_of(shop)
    again = owner.post(PRICES, sent_by(refused) | {"save": "1"})

    name = f"{mug.sku}, {shop.market.name}"
    said = f"After you opened this page, somebody else changed “{name}” to “€25.00”. Check and save again."
    assert refused.context["form"].errors == {cell(mug, shop.market): [said]}
    assert [cents for *_, cents in before] == [2500, 1990]
    assert messages_of(again)[-1] == "2 values were changed."
    assert [cents for *_, cents in prices_of(shop)] == [1700, 1800]


def test_cell_that_staff_left_alone_stays_as_others_set_it(shop, owner):
    mug, cup = (factories.make_variant(shop, price_cents=1990) for _ in range(2))
    sent = sent_by(owner.get(PRICES), **{cell(cup, shop.market): "18"})
    with shop.scope():
        VariantPricing.objects.filter(variant=mug).update(price_cents=2500)

    owner.post(PRICES, sent | {"save": "1"})

    assert [cents for *_, cents in prices_of(shop)] == [2500, 1800]


def test_amount_is_not_saved_in_a_currency_that_somebody_else_chose(shop, owner):
    mug = factories.make_variant(shop, price_cents=1990)
    sent = sent_by(owner.get(PRICES), **{cell(mug, shop.market): "18"})
    with shop.scope():
        VariantPricing.objects.update(currency="CZK")

    answer = owner.post(PRICES, sent | {"save": "1"})

    assert list(answer.context["form"].errors) == [cell(mug, shop.market)]
    assert [cents for *_, cents in prices_of(shop)] == [1990]


def test_nothing_is_saved_beside_a_row_that_was_archived(shop, owner):
    mug, cup = (factories.make_variant(shop, price_cents=1990) for _ in range(2))
    sent = sent_by(owner.get(PRICES), **{cell(mug, shop.market): "17", cell(cup, shop.market): "18"})
    shop.admin.delete(f"variants/{mug.pk}.json")
    with shop.scope():
        type(mug).objects.filter(pk=mug.pk).update(archived_at="2026-01-01T00:00:00Z")

    answer = owner.post(PRICES, sent | {"save": "1"})

    assert list(answer.context["form"].errors) == ["__all__"]
    assert [cents for *_, cents in prices_of(shop)] == [1990, 1990]


def test_back_to_editing_shows_what_was_typed(shop, owner):
    mug = factories.make_variant(shop, price_cents=1990)
    name = cell(mug, shop.market)
    preview = owner.post(PRICES, sent_by(owner.get(PRICES), **{name: "17,5"}))

    page = owner.post(PRICES, confirmed(preview) | {"save": "", "edit": "1"})

    assert page.context["form"][name].value() == "17,5"
    assert 'data-stored="19.90"' in page.content.decode()


def test_unedited_grid_changes_nothing(shop, owner):
    factories.make_variant(shop, price_cents=1990)

    answer = owner.post(PRICES, sent_by(owner.get(PRICES)))

    assert messages_of(answer) == ["Nothing was changed."]


@pytest.mark.parametrize(
    "token",
    [None, "", "forged", signing.dumps({"grid": {}}, salt="other")],
    # A signature differs with the second in which it is made.
    ids=["none", "empty", "forged", "other"],
)
def test_page_that_does_not_tell_what_it_showed_is_refused(shop, owner, token):
    mug = factories.make_variant(shop, price_cents=1990)
    sent = sent_by(owner.get(PRICES), **{cell(mug, shop.market): "1"}) | {"save": "1", "_shown": token}

    answer = owner.post(PRICES, {name: value for name, value in sent.items() if value is not None})

    assert answer.status_code == 422
    assert prices_of(shop) == [(mug.pk, "EUR", 1990)]


def test_rows_of_another_shop_are_neither_shown_nor_saved(shop, other_shop, owner, staff_of):
    theirs = factories.make_variant(other_shop, price_cents=1990)
    sent = sent_by(staff_of(other_shop).get(PRICES), **{cell(theirs, other_shop.market): "1"})

    page = owner.get(PRICES, id__in=theirs.pk)
    answer = owner.post(PRICES, sent | {"save": "1"})

    assert page.context["rows"] == []
    assert list(answer.context["form"].errors) == ["__all__"]
    assert prices_of(other_shop) == [(theirs.pk, "EUR", 1990)]


@pytest.mark.parametrize("path", [PRICES, COMPARED, STOCK])
def test_support_sees_grids_and_changes_nothing(shop, owner, support, path):
    mug = factories.make_variant(shop, price_cents=1990)
    name = cell(mug, shop.market)

    page = support.get(path)
    answer = support.post(path, sent_by(owner.get(path)) | {name: "1", "save": "1"})

    assert "<input" not in page.content.decode().partition('class="grid-table"')[2].partition("</table>")[0]
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("scopes", "shown", "saved"),
    [
        (["write_products"], [200, 200, 403], [302, 302, 403]),
        (["write_inventory"], [403, 403, 200], [403, 403, 302]),
        (["write_products", "read_inventory"], [200, 200, 200], [302, 302, 403]),
    ],
)
def test_each_grid_needs_the_scopes_of_its_numbers(shop, owner, client_with, scopes, shown, saved):
    mug = factories.make_variant(shop, price_cents=1990, stock=None)
    level = factories.set_stock(shop, mug, 5)
    member = client_with(*scopes)
    cells = {
        PRICES: cell(mug, shop.market),
        COMPARED: cell(mug, shop.market),
        STOCK: cell(mug, level.location),
    }
    pages = {path: owner.get(path) for path in cells}

    posted = [
        member.post(path, sent_by(pages[path], **{name: "77"}) | {"save": "1"}).status_code
        for path, name in cells.items()
    ]

    assert [member.get(path).status_code for path in cells] == shown
    assert posted == saved


@pytest.mark.parametrize(("scopes", "is_offered"), [(["read_inventory"], True), ([], False)])
def test_grid_of_stock_is_offered_to_those_who_may_open_it(shop, client_with, scopes, is_offered):
    factories.make_variant(shop)
    member = client_with("read_products", *scopes)

    texts = [member.get(path).text for path in ("catalog/variant/", "catalog/product/")]

    assert ["Edit stock of the selected" in text for text in texts] == [is_offered] * 2
    assert ("open-stock" in texts[0] or "/open_stock" in texts[0]) == is_offered
    assert ["Edit prices of the selected" in text for text in texts] == [True] * 2


def test_operators_changes_are_logged_without_their_name(shop, operator):
    mug = factories.make_variant(shop, price_cents=1990)

    operator.post(PRICES, sent_by(operator.get(PRICES), **{cell(mug, shop.market): "18"}) | {"save": "1"})

    with shop.scope():
        assert [action.username for action in StaffAction.objects.all()] == ["An operator"]


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


def test_stock_is_set_at_several_locations_at_once(shop, owner):
    mug = factories.make_variant(shop, stock=None)
    level = factories.set_stock(shop, mug, 5, reserved=2)
    with shop.scope():
        north = Location.objects.create(handle="north", name="North", priority=2)
    changes = {cell(mug, level.location): "8", cell(mug, north): "3"}

    page = owner.get(STOCK)
    answer = owner.post(STOCK, confirmed(owner.post(STOCK, sent_by(page, **changes, reason="received"))))

    assert "2 reserved or committed" in page.content.decode()
    assert messages_of(answer) == ["2 values were changed."]
    with shop.scope():
        assert dict(InventoryLevel.objects.values_list("location_id", "on_hand")) == {
            level.location_id: 8,
            north.pk: 3,
        }
        latest = InventoryAdjustment.objects.order_by("-pk")[:2]
        assert {(row.delta, row.reason, row.on_hand_after) for row in latest} == {
            (3, "received", 8),
            (3, "received", 3),
        }
        logged = StaffAction.objects.get()
    assert logged.summary == "changed Stock on hand"
    assert logged.changes == [
        {"field": f"Stock on hand: {level.location.name}", "before": "5", "after": "8"},
        {"field": "Stock on hand: North", "before": "", "after": "3"},
    ]


def test_stock_below_what_is_reserved_is_marked_and_nothing_is_saved(shop, owner):
    mug, cup = (factories.make_variant(shop, stock=None) for _ in range(2))
    level = factories.set_stock(shop, mug, 5, reserved=4)
    factories.set_stock(shop, cup, 5)
    changes = {cell(mug, level.location): "3", cell(cup, level.location): "9"}

    answer = owner.post(STOCK, sent_by(owner.get(STOCK), **changes) | {"save": "1"})

    assert answer.context["form"].errors == {
        cell(mug, level.location): ["The stock would fall below what is reserved and committed"]
    }
    with shop.scope():
        assert {row.on_hand for row in InventoryLevel.objects.all()} == {5}

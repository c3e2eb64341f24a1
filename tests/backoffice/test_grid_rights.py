"""Who may open and save the grids of prices and stock."""

import pytest

from commerce.backoffice.models import StaffAction
from tests import factories
from tests.backoffice.grids import COMPARED, PRICES, STOCK, cell, prices_of, sent_by


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

"""Grids of prices and stock: what would change is shown first, conflicts by cell, and nothing is half-done."""

import pytest
from django.core import signing

from accounts.models import Market
from commerce.backoffice.models import StaffAction
from commerce.catalog.models import VariantPricing
from tests import factories
from tests.backoffice.clients import messages_of
from tests.backoffice.grids import COMPARED, PRICES, cell, confirmed, prices_of, sent_by


@pytest.fixture
def japan(shop):
    with shop.scope():
        return Market.objects.create(
            handle="jp", name="Japan", currency="JPY", locale="ja-JP", country_code="JP"
        )


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

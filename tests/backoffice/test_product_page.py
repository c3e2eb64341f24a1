"""A product's page: its variants with prices in every market and stock at every location, saved together."""

import pytest
from django.utils import timezone

from accounts.models import Market
from commerce.backoffice.models import StaffAction
from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.catalog.operations import archive_variant
from commerce.inventory.models import InventoryAdjustment, InventoryLevel, Location
from tests import factories
from tests.backoffice.clients import filled

ADD = "catalog/product/add/"


@pytest.fixture
def market(shop):
    return shop.market.pk


@pytest.fixture
def japan(shop):
    with shop.scope():
        return Market.objects.create(
            handle="jp", name="Japan", currency="JPY", locale="ja-JP", country_code="JP"
        ).pk


@pytest.fixture
def main(shop):
    """The location that the factories use."""
    factories.set_stock(shop, factories.make_variant(shop, stock=None), 1)
    with shop.scope():
        return Location.objects.get().pk


def change(variant):
    return f"catalog/product/{variant.product_id}/change/"


def formset_of(answer):
    return answer.context["inline_admin_formsets"][0].formset


def prices_of(shop, variant):
    with shop.scope():
        rows = VariantPricing.objects.filter(variant=variant).order_by("market_id")
        return list(rows.values_list("currency", "price_cents"))


def stock_of(shop, variant):
    with shop.scope():
        return dict(InventoryLevel.objects.filter(variant=variant).values_list("location_id", "on_hand"))


def new_row(index, **fields):
    shared = {"tax_class": "standard", "weight_grams": "250 g", "track_inventory": "on"}
    return {"variants-TOTAL_FORMS": index + 1} | {
        f"variants-{index}-{name}": value for name, value in (shared | fields).items()
    }


def test_product_is_added_with_variants_prices_and_stock(shop, owner, market, japan, main):
    row = {"sku": "MUG-1", f"prices_{market}": "19,90 €", f"prices_{japan}": "2,000", f"grid_{main}": "12"}

    answer = owner.fill(ADD, handle="mug", title="Mug", **new_row(0, **row))

    assert answer.status_code == 302
    with shop.scope():
        variant = Variant.objects.get(sku="MUG-1")
        adjustment = InventoryAdjustment.objects.latest("pk")
    assert variant.weight_grams == 250
    assert prices_of(shop, variant) == [("EUR", 1990), ("JPY", 2000)]
    assert stock_of(shop, variant) == {main: 12}
    assert (adjustment.delta, adjustment.reason) == (12, "correction")


def test_variant_is_added_without_numbers(shop, owner, market, main):
    variant = factories.make_variant(shop, price_cents=1990, stock=None)

    owner.fill(change(variant), **new_row(1, sku="NEW"))

    with shop.scope():
        added = Variant.objects.get(sku="NEW")
    assert (prices_of(shop, added), stock_of(shop, added)) == ([], {})


def test_prices_and_stock_are_changed_and_logged(shop, owner, market, japan, main):
    variant = factories.make_variant(shop, price_cents=1990, stock=None)
    fields = {f"prices_{market}": "17.90", f"prices_{japan}": "¥1,500", f"grid_{main}": "3"}

    owner.fill(change(variant), **{f"variants-0-{name}": value for name, value in fields.items()})

    assert prices_of(shop, variant) == [("EUR", 1790), ("JPY", 1500)]
    assert stock_of(shop, variant) == {main: 3}
    with shop.scope():
        place = Location.objects.get().name
        logged = list(StaffAction.objects.filter(subject="catalog.variant").values_list("changes", flat=True))
    assert logged == [
        [
            {"field": f"Prices: {shop.market.name}", "before": "€19.90", "after": "€17.90"},
            {"field": "Prices: Japan", "before": "", "after": "¥1,500"},
        ],
        [{"field": f"Stock on hand: {place}", "before": "", "after": "3"}],
    ]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("prices_{market}", "17.905", "Amounts in EUR have at most two decimals."),
        ("prices_{market}", "-1", "Must be at least €0.00."),
        ("prices_{market}", "9999999999", "Must be at most €1,000,000,000.00."),
        ("prices_{market}", "", "This field is required."),
        ("prices_{japan}", "9.5", "Amounts in JPY have no decimals."),
        ("grid_{main}", "1.5", "Whole units only."),
        ("grid_{main}", "1", "The stock would fall below what is reserved and committed"),
    ],
)
def test_number_that_is_refused_is_an_error_of_its_input_and_nothing_is_saved(
    shop, owner, market, japan, main, name, value, message
):
    variant = factories.make_variant(shop, price_cents=1990, stock=None)
    factories.set_stock(shop, variant, 5, reserved=3)
    field = name.format(market=market, japan=japan, main=main)

    answer = owner.fill(change(variant), title="Changed", **{f"variants-0-{field}": value})

    assert formset_of(answer).errors == [{field: [message]}]
    assert prices_of(shop, variant) == [("EUR", 1990)]
    assert stock_of(shop, variant) == {main: 5}
    with shop.scope():
        assert Product.objects.get(pk=variant.product_id).title != "Changed"
        assert not StaffAction.objects.exists()


def test_refused_stock_of_a_new_variant_keeps_it_from_being_made(shop, owner, market, main):
    variant = factories.make_variant(shop, price_cents=1990, stock=None)

    answer = owner.fill(change(variant), **new_row(1, sku="NEW", **{f"grid_{main}": "99999999999999"}))

    assert list(formset_of(answer).errors[1]) == [f"grid_{main}"]
    with shop.scope():
        assert not Variant.objects.filter(sku="NEW").exists()


@pytest.mark.parametrize("theirs", [{"price_cents": 2500}, {"currency": "CZK"}])
def test_price_that_somebody_else_changed_is_not_overwritten(shop, owner, market, theirs):
    variant = factories.make_variant(shop, price_cents=1990)
    sent = filled(owner.get(change(variant)))
    with shop.scope():
        VariantPricing.objects.update(**theirs)
    stored = prices_of(shop, variant)

    left = owner.post(change(variant), sent | {"title": "Left"})
    refused = owner.post(change(variant), sent | {f"variants-0-prices_{market}": "15"})
    kept = prices_of(shop, variant)
    again = owner.post(change(variant), filled(refused))

    assert left.status_code == 302
    assert list(formset_of(refused).errors[0]) == [f"prices_{market}"]
    assert "somebody else changed" in formset_of(refused).errors[0][f"prices_{market}"][0]
    assert kept == stored
    assert again.status_code == 302
    assert prices_of(shop, variant)[0][1] == 1500


def test_stock_that_was_sold_meanwhile_is_not_overwritten(shop, owner, main):
    variant = factories.make_variant(shop, stock=None)
    level = factories.set_stock(shop, variant, 5)
    sent = filled(owner.get(change(variant)))
    with shop.scope():
        InventoryLevel.objects.filter(pk=level.pk).update(on_hand=4)

    refused = owner.post(change(variant), sent | {f"variants-0-grid_{main}": "6"})

    name = formset_of(refused).forms[0].fields[f"grid_{main}"].label
    said = f"After you opened this page, somebody else changed “{name}” to “4”. Check and save again."
    assert formset_of(refused).errors == [{f"grid_{main}": [said]}]
    assert stock_of(shop, variant) == {main: 4}


def test_price_in_another_currency_shows_it(shop, owner, market):
    variant = factories.make_variant(shop, price_cents=1990)
    with shop.scope():
        VariantPricing.objects.update(currency="CZK")

    page = owner.get(change(variant))
    owner.post(change(variant), filled(page) | {f"variants-0-prices_{market}": "21"})

    assert filled(page)[f"variants-0-prices_{market}"] == "19.90 CZK"
    assert prices_of(shop, variant) == [("CZK", 2100)]


def test_support_reads_prices_and_stock(shop, support, main):
    variant = factories.make_variant(shop, price_cents=1990, stock=None)
    factories.set_stock(shop, variant, 7)

    text = support.get(change(variant)).content.decode()

    assert "€19.90" in text
    assert "500 g" in text
    assert "<input" not in text.partition('id="variants-group"')[2].partition("</fieldset>")[0].replace(
        '<input type="hidden"', ""
    )


def test_stock_is_neither_shown_to_nor_taken_from_a_member_who_may_not_change_it(
    shop, client_with, market, main
):
    variant = factories.make_variant(shop, price_cents=1990, stock=None)
    factories.set_stock(shop, variant, 7)

    for scopes in ([], ["read_inventory"]):
        member = client_with("write_products", *scopes)
        page = member.get(change(variant))
        fields = {f"variants-0-prices_{market}": "17.90", f"variants-0-grid_{main}": "9"}
        answer = member.fill(
            change(variant), **fields, **new_row(1, sku=f"NEW-{len(scopes)}", **{f"grid_{main}": "3"})
        )

        assert f"grid_{main}" not in page.text
        assert answer.status_code == 302
        with shop.scope():
            added = Variant.objects.latest("pk")
        assert (stock_of(shop, variant), stock_of(shop, added)) == ({main: 7}, {})
        assert prices_of(shop, variant) == [("EUR", 1790)]
        with shop.scope():
            added.delete()


@pytest.mark.parametrize(("scopes", "is_shown"), [(["read_inventory"], True), ([], False)])
def test_member_who_may_only_read_products_sees_stock_by_the_scope_of_stock(
    shop, client_with, main, scopes, is_shown
):
    variant = factories.make_variant(shop, price_cents=1990, stock=None)
    factories.set_stock(shop, variant, 7654)

    text = client_with("read_products", *scopes).get(change(variant)).text

    assert "€19.90" in text
    assert ("7654" in text, "Stock: " in text) == (is_shown, is_shown)


def test_variants_are_shown_on_pages_that_can_be_sent(shop, owner, market, main, settings):
    product = factories.make_product(shop)
    for _ in range(100):
        factories.make_variant(shop, product=product)
    path = f"catalog/product/{product.pk}/change/"

    pages = [owner.get(path), owner.get(path, **{"variants-page": 2})]

    shown = [[form.instance.pk for form in formset_of(page).forms] for page in pages]
    with shop.scope():
        assert shown[0] + shown[1] == list(product.variants.order_by("pk").values_list("pk", flat=True))
    assert [len(filled(page)) < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS * 2 / 3 for page in pages] == [
        True,
        True,
    ]


def test_variants_are_saved_from_their_page_wherever_they_are_by_now(shop, owner, market, monkeypatch):
    monkeypatch.setattr("commerce.catalog.variant_rows.MAX_INPUTS", 39)
    product = factories.make_product(shop)
    variants = [factories.make_variant(shop, product=product, price_cents=1990) for _ in range(4)]
    path = f"catalog/product/{product.pk}/change/"
    second = owner.get(path, **{"variants-page": 2})
    sent = filled(second)
    with shop.scope():
        archive_variant(variant_id=variants[0].pk, now=timezone.now())

    answer = owner.post(f"{path}?variants-page=2", sent | {f"variants-0-prices_{market}": "15"})

    assert [form.instance.pk for form in formset_of(second).forms] == [variants[2].pk, variants[3].pk]
    assert answer.status_code == 302
    assert [prices_of(shop, variant)[0][1] for variant in variants] == [1990, 1990, 1500, 1990]


def test_numbers_are_shown_in_the_browsers_locale_and_read_in_it(shop, staff_of, market):
    variant = factories.make_variant(shop, price_cents=123_450)
    german = staff_of(shop, headers={"accept-language": "de-DE,de;q=0.9"})

    page = german.get(change(variant))
    german.post(change(variant), filled(page) | {f"variants-0-prices_{market}": "1.250,75"})

    assert 'value="1234,50"' in page.content.decode()
    assert prices_of(shop, variant) == [("EUR", 125_075)]


def test_page_takes_a_fixed_number_of_statements(shop, owner, main, django_assert_num_queries):
    product = factories.make_product(shop)
    counts = []
    # The first request of a session also notes it, and the first page of a process loads its content type.
    owner.get(f"catalog/product/{product.pk}/change/")
    for count in (1, 100):
        for _ in range(count):
            factories.make_variant(shop, product=product, price_cents=1990, stock=2)
        with django_assert_num_queries(18) as queries:
            owner.get(f"catalog/product/{product.pk}/change/")
        counts.append(len(queries))

    assert counts[0] == counts[1]

"""Products, variants and prices in forms: refusals of the API are form errors here."""

import pytest
from django.contrib.admin.models import LogEntry

from commerce.backoffice.models import StaffAction
from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.inventory.models import InventoryLevel
from tests import factories

ADD = "catalog/product/add/"


def change(row):
    return f"catalog/{row._meta.model_name}/{row.pk}/change/"


def errors_of(answer):
    return answer.context["adminform"].form.errors


def row_errors(answer):
    """Return the errors shown at the first inline row."""
    assert errors_of(answer) == {}
    return answer.context["inline_admin_formsets"][0].formset.errors[0]


def test_product_is_added_with_its_variants(shop, owner):
    answer = owner.fill(
        ADD,
        handle="mug",
        title="Mug",
        variants__TOTAL_FORMS=1,
        variants__0__sku="MUG-1",
        variants__0__weight_grams=300,
        variants__0__tax_class="standard",
        variants__0__track_inventory="on",
    )

    assert answer["Location"] == "/backoffice/catalog/product/"
    with shop.scope():
        variant = Variant.objects.select_related("product").get()
    assert (variant.product.handle, variant.product.status) == ("mug", "active")
    assert (variant.sku, variant.weight_grams, variant.track_inventory) == ("MUG-1", 300, True)


def test_taken_handle_is_a_form_error(shop, owner):
    factories.make_product(shop, handle="mug")

    answer = owner.fill(ADD, handle="mug", title="Another mug")

    assert errors_of(answer) == {"__all__": ["The handle is taken"]}
    with shop.scope():
        assert Product.objects.count() == 1
        assert not StaffAction.objects.exists()


def test_handle_of_another_shop_is_free(shop, other_shop, owner):
    factories.make_product(other_shop, handle="mug")

    owner.fill(ADD, handle="mug", title="Mug")

    with shop.scope():
        assert Product.objects.get().handle == "mug"


@pytest.mark.parametrize("handle", ["Mug", "mug cup", "-mug", "m" * 64, ""])
def test_handle_that_the_api_refuses_is_a_form_error(shop, owner, handle):
    answer = owner.fill(ADD, handle=handle, title="Mug")

    assert list(errors_of(answer)) == ["handle"]
    with shop.scope():
        assert not Product.objects.exists()


def test_taken_sku_is_a_form_error_and_keeps_nothing(shop, owner):
    factories.make_variant(shop, sku="MUG-1")

    answer = owner.fill(
        ADD,
        handle="mug",
        title="Mug",
        variants__TOTAL_FORMS=1,
        variants__0__sku="MUG-1",
        variants__0__weight_grams=300,
        variants__0__tax_class="standard",
    )

    assert row_errors(answer) == {"__all__": ["Another variant has this SKU"]}
    with shop.scope():
        assert not Product.objects.filter(handle="mug").exists()


def test_weight_that_the_api_refuses_is_a_form_error(shop, owner):
    variant = factories.make_variant(shop)

    answer = owner.fill(change(variant), weight_grams=10**9)

    assert list(errors_of(answer)) == ["weight_grams"]
    with shop.scope():
        assert Variant.objects.get().weight_grams == 500


def test_product_is_changed_and_the_change_is_logged(shop, owner):
    product = factories.make_product(shop, title="Mug")

    owner.fill(change(product), title="Cup", description="Holds tea")

    with shop.scope():
        product.refresh_from_db()
        action = StaffAction.objects.get()
    assert (product.title, product.description) == ("Cup", "Holds tea")
    assert (action.username, action.kind, action.subject) == (
        owner.user.username,
        "changed",
        "catalog.product",
    )
    assert (action.subject_id, action.summary) == (product.pk, "changed Title, Description")
    # Django's own log is one table for all accounts.
    assert not LogEntry.objects.exists()


def test_archiving_a_product_by_form_archives_its_variants(shop, owner):
    variant = factories.make_variant(shop)

    owner.fill(change(variant.product), status="archived")

    with shop.scope():
        variant.refresh_from_db()
    assert variant.archived_at is not None


def test_removing_a_variant_from_the_product_archives_it(shop, owner):
    variant = factories.make_variant(shop)

    owner.fill(change(variant.product), variants__0__DELETE="on")

    with shop.scope():
        variant.refresh_from_db()
    assert variant.archived_at is not None


def test_backorders_of_a_variant_are_carried_to_its_stock(shop, owner):
    variant = factories.make_variant(shop, stock=1)

    owner.fill(change(variant.product), variants__0__allow_backorder="on")

    with shop.scope():
        assert InventoryLevel.objects.get().allow_backorder is True


def test_price_is_set_in_the_markets_currency_where_none_is_given(shop, owner):
    variant = factories.make_variant(shop, price_cents=None)

    owner.fill(
        change(variant),
        pricing__TOTAL_FORMS=1,
        pricing__0__market=shop.market.pk,
        pricing__0__price_cents="19.90",
    )

    with shop.scope():
        price = VariantPricing.objects.get()
    assert (price.market_id, price.currency, price.price_cents) == (shop.market.pk, "EUR", 1990)


def test_price_is_changed(shop, owner):
    variant = factories.make_variant(shop, price_cents=1990)

    owner.fill(change(variant), pricing__0__price_cents="14.90", pricing__0__compare_at_price_cents="19.90")

    with shop.scope():
        price = VariantPricing.objects.get()
    assert (price.price_cents, price.compare_at_price_cents) == (1490, 1990)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("price_cents", "-1"),
        ("price_cents", "9" * 17),
        ("price_cents", "19.905"),
        ("price_cents", ""),
        ("currency", "EURO"),
        ("currency", "XXX"),
        ("compare_at_price_cents", "-1"),
    ],
)
def test_price_that_the_api_refuses_is_a_form_error(shop, owner, field, value):
    variant = factories.make_variant(shop, price_cents=1990)

    answer = owner.fill(change(variant), **{f"pricing__0__{field}": value})

    assert list(answer.context["inline_admin_formsets"][0].formset.errors[0]) == [field]
    with shop.scope():
        price = VariantPricing.objects.get()
    assert (price.price_cents, price.currency, price.compare_at_price_cents) == (1990, "EUR", None)


def test_price_does_not_move_to_another_market(shop, owner):
    variant = factories.make_variant(shop, price_cents=1990)
    with shop.scope():
        market = type(shop.market).objects.create(
            handle="at", name="Austria", currency="EUR", locale="de-AT", country_code="AT"
        )

    answer = owner.fill(change(variant), pricing__0__market=market.pk)

    assert row_errors(answer) == {
        "__all__": ["pricing: A price can't be moved to another market. Add a new one instead."]
    }
    with shop.scope():
        assert VariantPricing.objects.get().market_id == shop.market.pk


def test_second_price_in_one_market_is_refused(shop, owner):
    variant = factories.make_variant(shop, price_cents=1990)

    answer = owner.fill(
        change(variant),
        pricing__TOTAL_FORMS=2,
        pricing__1__market=shop.market.pk,
        pricing__1__price_cents="9.90",
    )

    errors = answer.context["inline_admin_formsets"][0].formset.errors
    assert errors == [
        {},
        {"market": ["The variant already has a price in this market. Reload the page to change it."]},
    ]
    with shop.scope():
        assert VariantPricing.objects.get().price_cents == 1990


def test_variant_is_added_to_a_product(shop, owner):
    product = factories.make_product(shop)

    owner.fill("catalog/variant/add/", product=product.pk, sku="MUG-2", weight_grams=0)

    with shop.scope():
        assert Variant.objects.get().product_id == product.pk


def test_variant_of_an_archived_product_is_refused(shop, owner):
    product = factories.make_product(shop, status="archived")

    answer = owner.fill("catalog/variant/add/", product=product.pk, sku="MUG-2", weight_grams=0)

    assert errors_of(answer) == {"__all__": ["The product is archived"]}
    with shop.scope():
        assert not Variant.objects.exists()


def test_archive_action_archives_the_selected_variants(shop, owner):
    archived, kept = factories.make_variant(shop), factories.make_variant(shop)

    owner.act_on_all("catalog/variant/", "archive", archived.pk)

    with shop.scope():
        assert [row.pk for row in Variant.objects.filter(archived_at__isnull=True)] == [kept.pk]
        assert [(row.subject_id, row.summary) for row in StaffAction.objects.all()] == [
            (archived.pk, "archived")
        ]


def test_products_can_not_be_deleted(shop, owner):
    product = factories.make_product(shop)

    answer = owner.post(f"catalog/product/{product.pk}/delete/", {"post": "yes"})

    assert answer.status_code == 403
    with shop.scope():
        assert Product.objects.filter(pk=product.pk).exists()

"""Staff of one shop never see or change rows of another, on any page of any model."""

import re
from uuid import uuid4

import pytest
from django.contrib import admin

from accounts.models import Account, ApiKey, StaffInvitation, StaffMembership
from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.configuration.models import AccountSetting
from commerce.inventory.models import InventoryLevel
from commerce.tenancy.models import AccountOwned
from commerce.webhooks.models import WebhookEndpoint
from emails.models import EmailTemplateVersion
from shipping.models import ShippingMethod
from tests import factories
from tests.backoffice.clients import make_staff
from tests.rows import make_rows

ROW_MODELS = sorted(
    (
        model
        for model in admin.site._registry
        if issubclass(model, AccountOwned) and model is not AccountSetting
    ),
    key=lambda model: model._meta.label,
)
# There is a list of templates instead of versions.
LISTED_MODELS = [model for model in ROW_MODELS if model is not EmailTemplateVersion]
# Exports of these would contain secrets.
EXPORTED_MODELS = [model for model in LISTED_MODELS if model not in {WebhookEndpoint, StaffInvitation}]
DIRECTORY_MODELS = [Account, ApiKey, StaffMembership]


def path_of(model, *parts):
    return "/".join([model._meta.app_label, model._meta.model_name, *map(str, parts), ""])


def rows_of(shop):
    with shop.scope():
        return make_rows()


@pytest.mark.parametrize("model", LISTED_MODELS, ids=lambda model: model._meta.label)
def test_list_shows_the_shops_own_rows_alone(shop, other_shop, owner, model):
    own, foreign = rows_of(shop)[model], rows_of(other_shop)[model]

    page = owner.get(path_of(model))

    listed = {row.pk for row in page.context["cl"].result_list}
    assert own.pk in listed
    assert foreign.pk not in listed


@pytest.mark.parametrize("model", ROW_MODELS, ids=lambda model: model._meta.label)
def test_pages_of_a_foreign_row_do_not_exist(shop, other_shop, owner, model):
    foreign = rows_of(other_shop)[model]

    shown = [owner.get(path_of(model, foreign.pk, view)) for view in ("change", "history")]
    sent = [owner.post(path_of(model, foreign.pk, view), {"post": "yes"}) for view in ("change", "delete")]

    # If nobody may change or delete such rows, that is checked first.
    assert [(answer.status_code, answer["Location"]) for answer in shown] == [(302, "/backoffice/")] * 2
    assert {(answer.status_code, answer.get("Location")) for answer in sent} <= {
        (302, "/backoffice/"),
        (403, None),
    }
    with other_shop.scope():
        assert model.objects.filter(pk=foreign.pk).exists()


@pytest.mark.parametrize("model", ROW_MODELS, ids=lambda model: model._meta.label)
def test_pages_of_an_own_row_exist(shop, owner, model):
    own = rows_of(shop)[model]

    shown = [owner.get(path_of(model, own.pk, view)) for view in ("change", "history")]

    assert [answer.status_code for answer in shown] == [200, 200]


@pytest.mark.parametrize("model", EXPORTED_MODELS, ids=lambda model: model._meta.label)
def test_export_has_the_shops_own_rows_alone(shop, other_shop, owner, model):
    own, foreign = rows_of(shop)[model], rows_of(other_shop)[model]

    answer = owner.act(path_of(model), "export_as_csv", own.pk, foreign.pk)

    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    exported = [line.split(",")[0] for line in answer.content.decode().splitlines()]
    assert exported[0] == "id"
    assert str(own.pk) in exported
    assert str(foreign.pk) not in exported


def test_every_dialog_refuses_a_foreign_row(shop, other_shop, owner):
    foreign = rows_of(other_shop)
    forms = {"delta": 5, "reason": "count", "grace_seconds": 0, "click": uuid4()}

    for model in ROW_MODELS:
        for action in admin.site._registry[model].actions_detail:
            answer = owner.confirm(path_of(model, foreign[model].pk, action), **forms)
            assert answer.status_code == 404, (model, action)

    with other_shop.scope():
        assert InventoryLevel.objects.get(pk=foreign[InventoryLevel].pk).on_hand == 0


@pytest.mark.parametrize("model", DIRECTORY_MODELS, ids=lambda model: model._meta.label)
def test_directory_row_of_another_shop_does_not_exist(shop, other_shop, owner, model):
    make_staff(other_shop)
    with other_shop.scope():
        foreign = model.objects.first()

    answers = [owner.get(path_of(model, foreign.pk, view)) for view in ("change", "history", "delete")]

    assert {answer.status_code for answer in answers} <= {302, 403}


@pytest.mark.parametrize("model", [ApiKey, StaffMembership], ids=lambda model: model._meta.label)
def test_directory_list_shows_the_shops_own_rows_alone(shop, other_shop, owner, model):
    make_staff(other_shop)

    page = owner.get(path_of(model))

    assert {row.account_id for row in page.context["cl"].result_list} == {shop.id}


def test_workspace_keys_are_not_listed(shop, owner):
    page = owner.get("accounts/apikey/")

    assert {key.kind for key in page.context["cl"].result_list} == {"admin", "storefront"}


@pytest.mark.parametrize(
    ("path", "term"),
    [
        ("catalog/product/", "Secret"),
        ("catalog/variant/", "SECRET-1"),
        ("customers/customer/", "secret@example.com"),
        ("inventory/inventorylevel/", "SECRET-1"),
    ],
)
def test_search_finds_nothing_of_another_shop(shop, other_shop, owner, path, term):
    product = factories.make_product(other_shop, title="Secret")
    factories.make_variant(other_shop, product=product, sku="SECRET-1")
    factories.make_customer(other_shop, email="secret@example.com")

    page = owner.get(path, q=term)

    assert list(page.context["cl"].result_list) == []


def test_autocomplete_offers_the_shops_own_rows_alone(shop, other_shop, owner):
    own = factories.make_product(shop, title="Mug", handle="mug")
    factories.make_product(other_shop, title="Mug")

    answer = owner.get(
        "autocomplete/", app_label="catalog", model_name="variant", field_name="product", term="Mug"
    )

    assert answer.json()["results"] == [{"id": str(own.pk), "text": "Mug (mug)"}]


def test_variant_of_a_foreign_product_is_refused(shop, other_shop, owner):
    foreign = factories.make_product(other_shop)

    answer = owner.fill("catalog/variant/add/", product=foreign.pk, sku="SKU", weight_grams=1)

    assert "product" in answer.context["adminform"].form.errors
    with other_shop.scope():
        assert not Variant.objects.exists()


def test_price_in_a_foreign_market_is_refused(shop, other_shop, owner):
    variant = factories.make_variant(shop, price_cents=None)

    answer = owner.fill(
        f"catalog/variant/{variant.pk}/change/",
        pricing__TOTAL_FORMS=1,
        pricing__0__market=other_shop.market.pk,
        pricing__0__price_cents="1.00",
    )

    assert "market" in answer.context["inline_admin_formsets"][0].formset.errors[0]
    with shop.scope():
        assert not VariantPricing.objects.exists()


def test_foreign_row_smuggled_into_an_inline_is_left_alone(shop, other_shop, owner):
    own, foreign = factories.make_product(shop), factories.make_variant(other_shop, sku="FOREIGN")
    variant = factories.make_variant(shop, product=own)

    owner.fill(f"catalog/product/{own.pk}/change/", variants__0__id=foreign.pk, variants__0__sku="TAKEN")

    with other_shop.scope():
        assert Variant.objects.get(pk=foreign.pk).sku == "FOREIGN"
    with shop.scope():
        assert Variant.objects.get(pk=variant.pk).sku == variant.sku


def test_method_in_a_foreign_zone_is_refused(shop, other_shop, owner):
    zone = factories.make_zone(other_shop)

    answer = owner.fill(
        "shipping/shippingmethod/add/",
        handle="dhl",
        name="DHL",
        zone=zone.pk,
        rate_mode="tiered",
        carrier="dhl",
        service_code="parcel",
    )

    assert "zone" in answer.context["adminform"].form.errors
    with other_shop.scope():
        assert not ShippingMethod.objects.exists()


def test_discount_on_foreign_products_is_refused(shop, other_shop, owner):
    foreign = factories.make_product(other_shop)

    answer = owner.fill(
        "discounts/discount/add/",
        title="Ten off",
        type="automatic_discount",
        value_mode="percentage",
        value_amount=10,
        product_ids=str(foreign.pk),
    )

    assert "product_ids" in answer.context["adminform"].form.errors


def test_list_action_leaves_foreign_rows_alone(shop, other_shop, owner):
    own, foreign = factories.make_product(shop), factories.make_product(other_shop)

    owner.act_on_all("catalog/product/", "archive", own.pk, foreign.pk)

    with shop.scope():
        assert Product.objects.get().status == "archived"
    with other_shop.scope():
        assert Product.objects.get().status == "active"


def test_switching_shops_shows_the_other_rows(shop, other_shop):
    client = make_staff(shop, other_shop)
    factories.make_product(shop, title="Coffee")
    factories.make_product(other_shop, title="Tea")

    before = client.get("catalog/product/").content
    client.choose(other_shop)
    after = client.get("catalog/product/").content

    assert [bool(re.search(b"Coffee", page)) for page in (before, after)] == [True, False]
    assert [bool(re.search(b">Tea<", page)) for page in (before, after)] == [False, True]

"""Saving a page that was opened before somebody else changed its rows undoes nothing."""

from datetime import UTC, datetime

import pytest
from django.contrib import admin

from accounts.models import Account, Market, StaffMembership
from commerce.backoffice.inlines import RowsInline
from commerce.backoffice.models import StaffAction
from commerce.backoffice.options import EditableAdmin
from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.configuration.models import AccountSetting
from commerce.configuration.operations import change_settings
from commerce.customers.models import Customer, Segment
from commerce.inventory.models import Location
from commerce.taxes.models import TaxRate
from discounts.models import Discount
from shipping.models import ShippingMethod, ShippingRate, ShippingZone
from tests import factories
from tests.backoffice.clients import filled, make_staff
from tests.shops import make_shop
from tests.threads import run_threads


def segment_filter(orders):
    return {"all": [{"field": "orders_count", "op": "gte", "value": orders}]}


# By model: the field that staff edit, and the fields that others change meanwhile.
DISCOUNT = {
    "status": "disabled",
    "code": "OTHER",
    "value_mode": "fixed_amount",
    "value_amount": 100,
    "currency": "EUR",
    "stackable": True,
    "minimum_order_subtotal_cents": 500,
    "usage_limit_total": 5,
    "usage_limit_per_customer": 1,
    "starts_at": datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
    "ends_at": datetime(2100, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
    "customer_eligibility": "tagged",
    "customer_tags": ["vip"],
    "first_order_only": True,
}
BOGO = {"buy": {"quantity": 2}, "get": {"quantity": 1}, "value_mode": "percentage", "value_amount": 5000}
TIERS = {"scope": "order", "tiers": [{"min_quantity": 9, "value_mode": "percentage", "value_amount": 500}]}
METHOD = {
    "handle": "other",
    "carrier": "other",
    "service_code": "other",
    "requires_pickup_point": True,
    "is_cod_compatible": True,
    "cod_fee_cents": 300,
    "estimated_days_min": 2,
    "estimated_days_max": 3,
    "carrier_config": {"depot": 7},
}
RATE = {
    "price_cents": 700,
    "currency": "CZK",
    "min_weight_grams": 1,
    "max_weight_grams": 2000,
    "min_subtotal_cents": 1,
    "max_subtotal_cents": 90_000,
    "min_quantity": 1,
    "max_quantity": 8,
}
ACCOUNT = {
    "default_currency": "CZK",
    "default_locale": "cs-CZ",
    "default_timezone": "Europe/Prague",
    "country_code": "CZ",
    "vat_number": "CZ12345678",
    "email_from": "shop@example.com",
}
MARKET = {
    "handle": "other",
    "currency": "CZK",
    "locale": "cs-CZ",
    "country_code": "CZ",
    "domain": "other.example",
    "prices_include_tax": False,
}
CUSTOMER = {
    "phone": "+4930123456",
    "last_name": "B",
    "locale": "cs-CZ",
    "country_code": "CZ",
    "tags": ["vip"],
}
VARIANT = {"sku": "OTHER", "weight_grams": 77, "tax_class": "reduced", "track_inventory": False}
CHANGES = {
    Account: ("name", ACCOUNT),
    Customer: ("first_name", CUSTOMER | {"email": "other@example.com"}),
    Discount: ("title", DISCOUNT),
    Location: ("name", {"handle": "other", "priority": 9, "is_active": False}),
    Market: ("name", MARKET),
    Product: ("title", {"handle": "other", "description": "Other", "status": "draft"}),
    Segment: ("name", {"handle": "other", "filter": segment_filter(3)}),
    ShippingMethod: ("name", METHOD),
    ShippingRate: ("display_name", RATE),
    ShippingZone: ("name", {"handle": "other", "country_codes": ["CZ"], "zip_patterns": ["1*"]}),
    StaffMembership: (None, {"role": "support"}),
    TaxRate: ("name", {"country_code": "CZ", "tax_class": "reduced", "rate_bp": 700}),
    Variant: ("title", VARIANT | {"allow_backorder": True}),
    VariantPricing: ("compare_at_price_cents", {}),
}
# Fields that others can't change, and fields changed in separate tests.
LEFT = {
    Discount: {
        "type",
        "applies_to",
        "market_ids",
        "product_ids",
        "variant_ids",
        "segment_ids",
        "customer_ids",
    }
    | {"bogo_config", "bulk_tiers"},
    ShippingMethod: {"zone", "rate_mode"},
    ShippingZone: {"market"},
    VariantPricing: {"market", "currency", "price_cents"},
}
PAGES = sorted(
    (model for model in CHANGES if isinstance(admin.site._registry.get(model), EditableAdmin)),
    key=lambda model: model._meta.label,
)
ROWS = [(Product, Variant), (ShippingMethod, ShippingRate)]
SETTINGS_PAGE = "configuration/accountsetting/"
TTL = "commerce.checkout.session_ttl_minutes"


def path_of(row, view="change"):
    return f"{row._meta.app_label}/{row._meta.model_name}/{row.pk}/{view}/"


def make_page_row(shop, model):
    """Create a row of the model, with the inline rows on its page."""
    if model is StaffMembership:
        make_staff(shop, role="staff")
    elif model is Discount:
        code = {"type": "discount_code", "code": "SOME", "value_mode": "percentage", "value_amount": 5000}
        factories.make_discount(shop, title="Some", **code)
    elif model is TaxRate:
        factories.make_tax_rate(shop, 1900)
    elif model in {Product, Variant}:
        factories.make_variant(shop, price_cents=1990)
    with shop.scope():
        make_row_of(model)
        rows = model.objects.filter(pk=shop.id) if model is Account else model.objects.order_by("-pk")
        return rows[0]


def make_row_of(model):
    if model is Customer:
        Customer.objects.create(email="a@example.com", normalised_email="a@example.com")
    elif model is Segment:
        Segment.objects.create(handle="some", name="Some", filter=segment_filter(1))
    elif model is Location:
        Location.objects.create(handle="some", name="Some", priority=1)
    elif model in {ShippingZone, ShippingMethod}:
        zone = ShippingZone.objects.create(handle="some", name="Some", country_codes=["DE"])
        method = ShippingMethod.objects.create(
            zone=zone, handle="some", name="Some", rate_mode="tiered", carrier="dhl", service_code="eu"
        )
        ShippingRate.objects.create(method=method, price_cents=500, currency="EUR")


def set_meanwhile(shop, row, **fields):
    with shop.scope():
        assert type(row).objects.filter(pk=row.pk).update(**fields) == 1


def stored(shop, row, *names):
    with shop.scope():
        return type(row).objects.filter(pk=row.pk).values(*names).get()


def errors_of(answer):
    return answer.context["adminform"].form.errors


def prefix_of(page, model):
    formsets = [inline.formset for inline in page.context["inline_admin_formsets"]]
    return next(formset.prefix for formset in formsets if formset.model is model)


def form_fields(page, model):
    formsets = [inline.formset for inline in page.context["inline_admin_formsets"]]
    forms = [page.context["adminform"].form, *(form for rows in formsets for form in rows.initial_forms)]
    form = next(form for form in forms if form._meta.model is model)
    return form.base_fields.keys() & {field.name for field in model._meta.fields}


def said_of(label, value):
    return f"After you opened this page, somebody else changed “{label}” to “{value}”. Check and save again."


def test_every_page_and_row_that_can_be_changed_is_looked_at():
    pages = {model for model, page in admin.site._registry.items() if isinstance(page, EditableAdmin)}
    inlines = {inline.model for model in pages for inline in admin.site._registry[model].inlines}
    names = {model.__name__ for model in pages if model not in CHANGES}

    assert names == {"StaffInvitation"}
    assert inlines <= CHANGES.keys()
    assert all(
        issubclass(inline, RowsInline) for model in pages for inline in admin.site._registry[model].inlines
    )


@pytest.mark.parametrize("model", PAGES, ids=lambda model: model.__name__)
def test_what_others_changed_meanwhile_stays(shop, owner, model):
    edited, meanwhile = CHANGES[model]
    row = make_page_row(shop, model)
    page = owner.get(path_of(row))
    sent = filled(page)
    set_meanwhile(shop, row, **meanwhile)

    answer = owner.post(path_of(row), sent | ({edited: "Edited"} if edited else {}))

    assert answer.status_code == 302, errors_of(answer)
    expected = meanwhile | ({edited: "Edited"} if edited else {})
    assert stored(shop, row, *expected) == expected
    assert form_fields(page, model) == expected.keys() | LEFT.get(model, set())


@pytest.mark.parametrize(("model", "row_model"), ROWS, ids=lambda model: model.__name__)
def test_what_others_changed_in_a_row_below_stays(shop, owner, model, row_model):
    edited, meanwhile = CHANGES[row_model]
    owning = make_page_row(shop, model)
    with shop.scope():
        row = row_model.objects.get()
    page = owner.get(path_of(owning))
    set_meanwhile(shop, row, **meanwhile)

    answer = owner.post(
        path_of(owning), filled(page) | {f"{prefix_of(page, row_model)}-0-{edited}": "Edited"}
    )

    assert answer.status_code == 302
    assert stored(shop, row, *meanwhile, edited) == meanwhile | {edited: "Edited"}
    assert form_fields(page, row_model) - {"method", "product"} == meanwhile.keys() | {edited}


@pytest.mark.parametrize("model", [model for model in PAGES if CHANGES[model][0]], ids=lambda m: m.__name__)
def test_edit_of_what_others_changed_is_refused_until_it_is_saved_again(shop, owner, model):
    edited = CHANGES[model][0]
    row = make_page_row(shop, model)
    sent = filled(owner.get(path_of(row)))
    set_meanwhile(shop, row, **{edited: "Theirs"})

    refused = owner.post(path_of(row), sent | {edited: "Ours"})
    kept = stored(shop, row, edited)
    with shop.scope():
        logged = StaffAction.objects.exists()
    again = owner.post(path_of(row), filled(refused))

    label = refused.context["adminform"].form[edited].label
    assert errors_of(refused) == {edited: [said_of(label, "Theirs")]}
    assert (kept, logged) == ({edited: "Theirs"}, False)
    assert again.status_code == 302
    assert stored(shop, row, edited) == {edited: "Ours"}


@pytest.mark.parametrize(
    ("type_", "field", "value"), [("buy_x_get_y", "bogo_config", BOGO), ("bulk_pricing", "bulk_tiers", TIERS)]
)
def test_parts_that_others_changed_stay(shop, owner, type_, field, value):
    before = value | {"max_applications": 1} if field == "bogo_config" else value | {"scope": "line"}
    discount = factories.make_discount(shop, title="Some", type=type_, code=None, **{field: before})
    sent = filled(owner.get(path_of(discount)))
    set_meanwhile(shop, discount, **{field: value})

    answer = owner.post(path_of(discount), sent | {"title": "Edited"})

    assert answer.status_code == 302, errors_of(answer)
    assert stored(shop, discount, "title", field) == {"title": "Edited", field: value}


def test_amount_is_not_edited_beside_a_unit_that_others_changed(shop, owner):
    discount = make_page_row(shop, Discount)
    sent = filled(owner.get(path_of(discount)))
    set_meanwhile(shop, discount, value_mode="fixed_amount", value_amount=5000, currency="EUR")

    refused = owner.post(path_of(discount), sent | {"value_amount": 3000})

    said = (
        "After you opened this page, somebody else changed “Currency” to “EUR” and changed “Value mode” "
        "to “Fixed Amount”. Check and save again."
    )
    assert errors_of(refused) == {"value_amount": [said]}
    assert stored(shop, discount, "value_amount") == {"value_amount": 5000}
    assert filled(refused)["value_mode"] == "fixed_amount"
    assert owner.post(path_of(discount), filled(refused)).status_code == 302
    expected = {"value_mode": "fixed_amount", "value_amount": 3000, "currency": "EUR"}
    assert stored(shop, discount, *expected) == expected


def test_price_is_left_as_others_set_it_and_its_edit_is_refused(shop, owner):
    variant = make_page_row(shop, Variant)
    with shop.scope():
        price = VariantPricing.objects.get()
    sent = filled(owner.get(path_of(variant)))
    set_meanwhile(shop, price, price_cents=2500)

    left = owner.post(path_of(variant), sent | {"title": "Edited"})
    kept = stored(shop, price, "price_cents")
    refused = owner.post(path_of(variant), sent | {"title": "Half", "pricing-0-price_cents": 1500})

    assert left.status_code == 302
    assert kept == stored(shop, price, "price_cents") == {"price_cents": 2500}
    rows = refused.context["inline_admin_formsets"][0].formset
    assert rows.errors == [{"price_cents": [said_of("Price cents", 2500)]}]
    assert stored(shop, variant, "title") == {"title": "Edited"}


def test_row_that_others_deleted_is_left_out_and_its_edit_is_refused(shop, owner):
    method = make_page_row(shop, ShippingMethod)
    with shop.scope():
        gone = ShippingRate.objects.get()
        other = ShippingRate.objects.create(method=method, price_cents=900, currency="EUR", min_quantity=5)
    page = owner.get(path_of(method))
    sent, prefix = filled(page), prefix_of(page, ShippingRate)
    set_meanwhile(shop, gone, deleted_at=datetime.now(UTC))

    left = owner.post(path_of(method), sent | {f"{prefix}-1-price_cents": 800})
    refused = owner.post(path_of(method), sent | {f"{prefix}-0-price_cents": 1})
    marked = owner.post(path_of(method), filled(refused) | {f"{prefix}-0-DELETE": "on"})

    assert left.status_code == 302
    assert stored(shop, other, "price_cents") == {"price_cents": 800}
    errors = refused.context["inline_admin_formsets"][0].formset.errors
    assert errors[0] == {
        "__all__": ["Somebody else deleted this row. Mark it for deletion, then save again."]
    }
    assert marked.status_code == 302
    assert stored(shop, gone, "price_cents") == {"price_cents": 500}


@pytest.mark.parametrize("token", ["", "eyJ9.1.forged"])
def test_page_that_does_not_tell_what_it_showed_is_refused(shop, owner, token):
    market = make_page_row(shop, Market)
    sent = filled(owner.get(path_of(market)))

    answer = owner.post(path_of(market), sent | {"name": "Edited", "_shown": token})

    assert list(errors_of(answer)) == ["__all__"]
    assert stored(shop, market, "name") == {"name": market.name}


def test_forms_of_scripts_are_compared_with_what_is_stored(shop, owner):
    market = make_page_row(shop, Market)
    sent = filled(owner.get(path_of(market))) | {"name": "Edited"}
    settings = filled(owner.get(SETTINGS_PAGE)) | {TTL: "30"}
    del sent["_shown"], settings["_shown"]

    answers = [owner.post(path_of(market), sent), owner.post(SETTINGS_PAGE, settings)]

    assert [answer.status_code for answer in answers] == [302, 302]
    assert stored(shop, market, "name") == {"name": "Edited"}
    with shop.scope():
        assert dict(AccountSetting.objects.values_list("name", "value")) == {TTL: 30}


def test_setting_that_others_changed_stays_and_its_edit_is_refused(shop, owner):
    sent = filled(owner.get(SETTINGS_PAGE))
    with shop.scope():
        change_settings(changes={TTL: 20})

    owner.post(SETTINGS_PAGE, sent | {"commerce.email.reply_to": "help@example.com"})
    refused = owner.post(SETTINGS_PAGE, sent | {TTL: "30"})

    assert refused.context["form"].errors == {TTL: [said_of(TTL, 20)]}
    with shop.scope():
        own = dict(AccountSetting.objects.values_list("name", "value"))
    assert own == {TTL: 20, "commerce.email.reply_to": "help@example.com"}


def test_password_is_not_saved_for_a_host_that_others_set(shop, owner):
    host, password = "commerce.email.smtp_host", "commerce.email.smtp_password"
    with shop.scope():
        change_settings(changes={host: "mail.example.com", password: "first"})
    sent = filled(owner.get(SETTINGS_PAGE))
    with shop.scope():
        change_settings(changes={host: "mail.other.example", password: "second"})

    refused = owner.post(SETTINGS_PAGE, sent | {password: "third"})

    assert list(refused.context["form"].errors) == [password]
    with shop.scope():
        own = dict(AccountSetting.objects.values_list("name", "value"))
    assert own == {host: "mail.other.example", password: "second"}
    assert not {"first", "second"} & set(str(refused.context["form"].fingerprints).split("'"))


@pytest.mark.django_db(transaction=True)
def test_of_two_who_save_the_same_field_at_once_one_is_refused():
    shop = make_shop()
    clients = [make_staff(shop) for _ in range(4)]
    market = make_page_row(shop, Market)
    sent = filled(clients[0].get(path_of(market)))

    def save(number):
        return (
            clients[number]
            .browser.post(f"/backoffice/{path_of(market)}", sent | {"name": f"Name {number}"})
            .status_code
        )

    answers = run_threads(4, save)

    assert sorted(answers) == [200, 200, 200, 302]
    assert stored(shop, market, "name") == {"name": f"Name {answers.index(302)}"}


@pytest.mark.django_db(transaction=True)
def test_edits_of_different_fields_at_once_all_stay():
    shop = make_shop()
    clients = [make_staff(shop) for _ in range(3)]
    market = make_page_row(shop, Market)
    sent = filled(clients[0].get(path_of(market)))
    edits = [{"name": "Edited"}, {"locale": "cs-CZ"}, {"handle": "edited"}]

    def save(number):
        return (
            clients[number].browser.post(f"/backoffice/{path_of(market)}", sent | edits[number]).status_code
        )

    assert run_threads(3, save) == [302] * 3
    assert stored(shop, market, "name", "locale", "handle") == {
        "name": "Edited",
        "locale": "cs-CZ",
        "handle": "edited",
    }

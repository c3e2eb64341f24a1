"""Saving a page that was opened before somebody else changed its rows undoes nothing: every page and row."""

from datetime import UTC, datetime

import pytest
from django.contrib import admin

from accounts.models import Account, Market, StaffMembership, StaffRole
from commerce.backoffice.inlines import RowsInline
from commerce.backoffice.models import StaffAction
from commerce.backoffice.options import EditableAdmin
from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.customers.models import Customer, Segment
from commerce.inventory.models import Location
from commerce.taxes.models import TaxRate
from discounts.models import Discount
from shipping.models import ShippingMethod, ShippingRate, ShippingZone
from tests.backoffice.clients import filled
from tests.backoffice.stale import (
    conflict_message,
    errors_of,
    make_page_row,
    path_of,
    prefix_of,
    segment_filter,
    set_meanwhile,
    stored,
)

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
    StaffRole: ("name", {"scopes": ["read_products"]}),
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


def form_fields(page, model):
    formsets = [inline.formset for inline in page.context["inline_admin_formsets"]]
    forms = [page.context["adminform"].form, *(form for rows in formsets for form in rows.initial_forms)]
    form = next(form for form in forms if form._meta.model is model)
    return form.base_fields.keys() & {field.name for field in model._meta.fields}


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
    assert errors_of(refused) == {edited: [conflict_message(label, "Theirs")]}
    assert (kept, logged) == ({edited: "Theirs"}, False)
    assert again.status_code == 302
    assert stored(shop, row, edited) == {edited: "Ours"}

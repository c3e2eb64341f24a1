"""Rows that somebody else changes after a page of them was opened."""

from accounts.models import Account, StaffMembership, StaffRole
from commerce.catalog.models import Product, Variant
from commerce.customers.models import Customer, Segment
from commerce.inventory.models import Location
from commerce.taxes.models import TaxRate
from discounts.models import Discount
from shipping.models import ShippingMethod, ShippingRate, ShippingZone
from tests import factories
from tests.backoffice.clients import make_staff


def segment_filter(orders):
    return {"all": [{"field": "orders_count", "op": "gte", "value": orders}]}


SETTINGS_PAGE = "configuration/accountsetting/"


def path_of(row, view="change"):
    return f"{row._meta.app_label}/{row._meta.model_name}/{row.pk}/{view}/"


def make_page_row(shop, model):
    """Create a row of the model, with the inline rows on its page."""
    if model is StaffMembership:
        make_staff(shop, role="manager")
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
    elif model is StaffRole:
        StaffRole.objects.create(name="Some", scopes=["read_orders"])
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


def conflict_message(label, value):
    return f"After you opened this page, somebody else changed “{label}” to “{value}”. Check and save again."

"""Kinds of rows that REST and back office pages create, and fields that break a rule."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.utils import timezone

from accounts.models import Market
from accounts.operations import create_market
from commerce.catalog.models import Product
from commerce.catalog.operations import create_product
from commerce.customers.models import Customer, Segment
from commerce.customers.operations import create_customer, create_segment
from commerce.inventory.models import Location
from commerce.inventory.operations import create_location
from commerce.taxes.models import TaxRate
from commerce.taxes.operations import create_tax_rate
from discounts.models import Discount
from discounts.operations import create_discount
from shipping.models import ShippingMethod, ShippingZone
from shipping.operations import create_method, create_zone


@dataclass(frozen=True)
class Kind:
    """A kind of row that both REST and a back office page create."""

    model: type[Model]
    path: str
    page: str
    body: dict[str, Any]
    create: Callable[[dict[str, Any]], object]


KINDS = {
    "tax rate": Kind(
        TaxRate,
        "tax_rates.json",
        "taxes/taxrate/add/",
        {"country_code": "DE", "tax_class": "standard", "rate_bp": 1900},
        lambda fields: create_tax_rate(fields=fields),
    ),
    "location": Kind(
        Location,
        "locations.json",
        "inventory/location/add/",
        {"handle": "shed", "name": "Shed", "priority": 2},
        lambda fields: create_location(fields=fields),
    ),
    "customer": Kind(
        Customer,
        "customers.json",
        "customers/customer/add/",
        {"email": "ada@example.com"},
        lambda fields: create_customer(fields=fields),
    ),
    "segment": Kind(
        Segment,
        "segments.json",
        "customers/segment/add/",
        {"handle": "all", "name": "All", "filter": {"all": []}},
        lambda fields: create_segment(fields=fields),
    ),
    "product": Kind(
        Product,
        "products.json",
        "catalog/product/add/",
        {"handle": "mug", "title": "Mug"},
        lambda fields: create_product(fields=fields, variants=[]),
    ),
    "market": Kind(
        Market,
        "markets.json",
        "accounts/market/add/",
        {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"},
        lambda fields: create_market(fields=fields),
    ),
    "zone": Kind(
        ShippingZone,
        "shipping/zones.json",
        "shipping/shippingzone/add/",
        {"handle": "de", "name": "Germany", "country_codes": ["DE"]},
        lambda fields: create_zone(fields=fields),
    ),
    "method": Kind(
        ShippingMethod,
        "shipping/methods.json",
        "shipping/shippingmethod/add/",
        {
            "handle": "parcel",
            "name": "Parcel",
            "carrier": "dhl",
            "service_code": "eu",
            "rate_mode": "tiered",
            "cod_fee_cents": 0,
        },
        lambda fields: create_method(fields=fields),
    ),
    "discount": Kind(
        Discount,
        "discounts.json",
        "discounts/discount/add/",
        {
            "title": "Welcome",
            "type": "discount_code",
            "code": "WELCOME",
            "value_mode": "percentage",
            "value_amount": 1000,
        },
        lambda fields: create_discount(fields=fields, actor="test", now=timezone.now()),
    ),
}
# The kind, fields that break a rule, the path of the error and its code.
BROKEN = [
    ("tax rate", {"country_code": "XX"}, "country_code", "unknown_country"),
    ("tax rate", {"tax_class": "A b"}, "tax_class", "invalid_token"),
    ("tax rate", {"rate_bp": 10_001}, "rate_bp", "max_value"),
    ("location", {"handle": "-shed"}, "handle", "invalid_handle"),
    ("location", {"priority": 0}, "priority", "min_value"),
    ("customer", {"email": "nobody"}, "email", "invalid"),
    ("customer", {"locale": "german"}, "locale", "invalid_locale"),
    ("customer", {"country_code": "XX"}, "country_code", "unknown_country"),
    ("customer", {"tags": [f"t{n}" for n in range(101)]}, "tags", "max_length"),
    ("segment", {"handle": "All"}, "handle", "invalid_handle"),
    (
        "segment",
        {"filter": {"all": [{"field": "tag", "op": "gte", "value": "a"}]}},
        "filter.all.0.op",
        "op_not_allowed",
    ),
    (
        "segment",
        {"filter": {"all": [{"field": "country_code", "op": "in", "value": ["DE", "XX"]}]}},
        "filter.all.0.value.1",
        "unknown_country",
    ),
    (
        "segment",
        {"filter": {"all": [{"field": "created_at", "op": "gte", "value": "2026-01-01T00:00:00"}]}},
        "filter.all.0.value",
        "no_offset",
    ),
    ("product", {"handle": "Mug"}, "handle", "invalid_handle"),
    ("product", {"status": "archived"}, "status", "invalid_choice"),
    ("market", {"currency": "XXX"}, "currency", "unknown_currency"),
    ("market", {"locale": "german"}, "locale", "invalid_locale"),
    ("market", {"country_code": "XX"}, "country_code", "unknown_country"),
    ("market", {"domain": "no domain"}, "domain", "invalid_domain"),
    ("zone", {"country_codes": ["DE", "XX"]}, "country_codes.1", "unknown_country"),
    ("zone", {"zip_patterns": ["1*2"]}, "zip_patterns.0", "invalid_zip_pattern"),
    ("method", {"carrier": "A b"}, "carrier", "invalid_token"),
    ("method", {"estimated_days_min": 3, "estimated_days_max": 2}, "estimated_days_max", "below_min"),
    ("discount", {"code": "a/b"}, "code", "invalid_code"),
    ("discount", {"value_amount": 10_001}, "value_amount", "max_value"),
    ("discount", {"value_mode": "fixed_amount"}, "currency", "required"),
    ("discount", {"customer_eligibility": "tagged"}, "customer_tags", "required"),
    ("discount", {"usage_limit_total": 0}, "usage_limit_total", "min_value"),
]

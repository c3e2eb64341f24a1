"""factory_boy factories: default values of fields that a test doesn't set."""

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from commerce.catalog.models import Product, Variant
from commerce.customers.models import Customer
from commerce.outbox.models import OutboxDispatch
from discounts.models import Discount
from emails.models import EmailDelivery
from shipping.models import PickupPoint, ShippingMethod, ShippingRate, ShippingZone


class ProductFactory(DjangoModelFactory):
    class Meta:
        model = Product

    handle = factory.Sequence(lambda n: f"product-{n}")
    title = factory.Sequence(lambda n: f"Product {n}")


class VariantFactory(DjangoModelFactory):
    class Meta:
        model = Variant

    product = factory.SubFactory(ProductFactory)
    sku = factory.Sequence(lambda n: f"SKU-{n}")
    title = "Variant"
    weight_grams = 500


class CustomerFactory(DjangoModelFactory):
    class Meta:
        model = Customer

    email = factory.Sequence(lambda n: f"customer-{n}@example.com")
    normalised_email = factory.LazyAttribute(lambda customer: customer.email.strip().lower())


class ZoneFactory(DjangoModelFactory):
    class Meta:
        model = ShippingZone

    handle = factory.Sequence(lambda n: f"zone-{n}")
    name = factory.LazyAttribute(lambda zone: zone.handle.title())
    country_codes = ("DE",)


class MethodFactory(DjangoModelFactory):
    class Meta:
        model = ShippingMethod

    zone = factory.SubFactory(ZoneFactory)
    handle = factory.Sequence(lambda n: f"method-{n}")
    name = factory.LazyAttribute(lambda method: method.handle.title())
    carrier = "dhl"
    service_code = "parcel"
    rate_mode = ShippingMethod.RateMode.TIERED
    is_cod_compatible = True


class RateFactory(DjangoModelFactory):
    class Meta:
        model = ShippingRate

    method = factory.SubFactory(MethodFactory)
    price_cents = 490
    currency = "EUR"
    is_flat = factory.LazyAttribute(lambda rate: rate.method.rate_mode == ShippingMethod.RateMode.FLAT)


class PickupPointFactory(DjangoModelFactory):
    class Meta:
        model = PickupPoint

    carrier = "packeta"
    external_id = factory.Sequence(str)
    name = factory.Sequence(lambda n: f"Point {n}")
    zip = "10115"
    normalised_zip = "10115"
    country_code = "DE"


class DiscountFactory(DjangoModelFactory):
    class Meta:
        model = Discount

    type = factory.LazyAttribute(lambda row: "automatic_discount" if row.code is None else "discount_code")
    code = None
    title = factory.Sequence(lambda number: f"Discount {number}")
    value_mode = "percentage"
    value_amount = 1000


class DispatchFactory(DjangoModelFactory):
    class Meta:
        model = OutboxDispatch

    class Params:
        task_name = "example"

    target = factory.LazyAttribute(lambda dispatch: {"task_name": dispatch.task_name})
    idempotency_key = factory.Sequence(lambda n: f"dispatch-{n}")
    due_at = factory.LazyFunction(timezone.now)


class DeliveryFactory(DjangoModelFactory):
    class Meta:
        model = EmailDelivery

    template_key = "order.confirmation"
    to_email = "ann@example.com"
    locale = "en"
    subject = "Your order"
    html = "<p>Thank you</p>"
    text = "Thank you"
    ctx = factory.LazyFunction(lambda: {"number": "1001"})
    provider = "local"
    provider_message_id = factory.Sequence(lambda n: f"<message-{n}@localhost>")
    idempotency_key = factory.Sequence(lambda n: f"delivery-{n}")
    queued_at = factory.LazyFunction(timezone.now)
    sent_at = factory.LazyAttribute(lambda delivery: delivery.queued_at)

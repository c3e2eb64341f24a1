import pytest

from commerce.taxes.models import TaxRate
from shipping.models import ShippingMethod, ShippingRate, ShippingZone
from tests import factories
from tests.backoffice.clients import messages_of

ZONE = {"handle": "de", "name": "Germany", "country_codes": "DE"}


def errors_of(answer):
    return answer.context["adminform"].form.errors


def method_path(method):
    return f"shipping/shippingmethod/{method.pk}/change/"


def test_tax_rate_is_added_changed_and_deleted(shop, owner):
    owner.fill("taxes/taxrate/add/", country_code="de", tax_class="reduced", rate_bp=700)
    with shop.scope():
        rate = TaxRate.objects.get()

    owner.fill(f"taxes/taxrate/{rate.pk}/change/", rate_bp=500)
    with shop.scope():
        changed = TaxRate.objects.get()
    owner.post(f"taxes/taxrate/{rate.pk}/delete/", {"post": "yes"})

    assert (rate.country_code, rate.rate_bp, changed.rate_bp) == ("DE", 700, 500)
    with shop.scope():
        assert not TaxRate.objects.exists()


def test_second_tax_rate_of_a_class_is_a_form_error(shop, owner):
    factories.make_tax_rate(shop, 1900)

    answer = owner.fill("taxes/taxrate/add/", country_code="DE", tax_class="standard", rate_bp=2000)

    assert list(errors_of(answer)) == ["__all__"]
    with shop.scope():
        assert TaxRate.objects.get().rate_bp == 1900


@pytest.mark.parametrize(
    ("field", "value"),
    [("country_code", "XX"), ("rate_bp", "10001"), ("rate_bp", "-1"), ("tax_class", "A b")],
)
def test_tax_rate_that_the_api_refuses_is_a_form_error(shop, owner, field, value):
    fields = {"country_code": "DE", "tax_class": "standard", "rate_bp": 1900, field: value}

    answer = owner.fill("taxes/taxrate/add/", **fields)

    assert list(errors_of(answer)) == [field]
    with shop.scope():
        assert not TaxRate.objects.exists()


def test_zone_is_added(shop, owner):
    owner.fill(
        "shipping/shippingzone/add/", **ZONE | {"country_codes": "de, AT,DE"}, zip_patterns="10*, 12345"
    )

    with shop.scope():
        zone = ShippingZone.objects.get()
    assert (zone.country_codes, zone.zip_patterns) == (["DE", "AT"], ["10*", "12345"])


@pytest.mark.parametrize(
    ("field", "value"), [("country_codes", "XX"), ("country_codes", ""), ("zip_patterns", "1*2")]
)
def test_zone_that_the_api_refuses_is_a_form_error(shop, owner, field, value):
    answer = owner.fill("shipping/shippingzone/add/", **ZONE | {field: value})

    assert list(errors_of(answer)) == [field]
    with shop.scope():
        assert not ShippingZone.objects.exists()


def test_zone_in_use_is_not_deleted(shop, owner):
    method = factories.make_method(shop)

    answer = owner.post(f"shipping/shippingzone/{method.zone_id}/delete/", {"post": "yes"})

    assert answer.status_code == 302
    assert len(messages_of(answer)) == 1
    with shop.scope():
        assert ShippingZone.objects.get().deleted_at is None


def test_deleted_zone_and_method_are_gone_from_the_pages(shop, owner):
    method = factories.make_method(shop)

    owner.post(f"shipping/shippingmethod/{method.pk}/delete/", {"post": "yes"})
    owner.post(f"shipping/shippingzone/{method.zone_id}/delete/", {"post": "yes"})

    with shop.scope():
        assert ShippingMethod.objects.get().deleted_at is not None
        assert ShippingZone.objects.get().deleted_at is not None
    assert owner.get(method_path(method))["Location"] == "/backoffice/"
    assert list(owner.get("shipping/shippingzone/").context["cl"].result_list) == []


def test_rates_are_added_changed_and_deleted_on_the_page_of_their_method(shop, owner):
    method = factories.make_method(shop)
    changed = factories.make_rate(shop, method=method, price_cents=490)
    deleted = factories.make_rate(shop, method=method, price_cents=590)

    owner.fill(
        method_path(method),
        rates__TOTAL_FORMS=3,
        rates__0__price_cents=390,
        rates__1__DELETE="on",
        rates__2__price_cents=690,
        rates__2__currency="eur",
        rates__2__max_weight_grams=1000,
    )

    with shop.scope():
        live = ShippingRate.objects.filter(deleted_at__isnull=True).order_by("pk")
        assert [(rate.price_cents, rate.currency, rate.max_weight_grams) for rate in live] == [
            (390, "EUR", None),
            (690, "EUR", 1000),
        ]
        assert ShippingRate.objects.get(pk=deleted.pk).deleted_at is not None
        assert live[0].pk == changed.pk


def test_second_flat_rate_of_a_currency_is_a_form_error(shop, owner):
    method = factories.make_method(shop, rate_mode="flat")
    factories.make_rate(shop, method=method)

    answer = owner.fill(
        method_path(method), rates__TOTAL_FORMS=2, rates__1__price_cents=690, rates__1__currency="EUR"
    )

    assert list(errors_of(answer)) == ["__all__"]
    with shop.scope():
        assert ShippingRate.objects.count() == 1


def test_bounds_upside_down_are_a_form_error(shop, owner):
    rate = factories.make_rate(shop)

    answer = owner.fill(method_path(rate.method), rates__0__min_quantity=5, rates__0__max_quantity=1)

    assert answer.status_code == 200
    with shop.scope():
        assert ShippingRate.objects.get().min_quantity is None


def test_carrier_rates_are_not_available_yet(shop, owner):
    method = factories.make_method(shop)

    answer = owner.fill(method_path(method), rate_mode="carrier_api")

    assert list(errors_of(answer)) == ["__all__"]
    with shop.scope():
        assert ShippingMethod.objects.get().rate_mode == "tiered"


def test_deleted_zones_are_not_offered_to_methods(shop, owner):
    zone = factories.make_zone(shop, deleted_at="2026-01-01T00:00:00Z")

    answer = owner.fill("shipping/shippingmethod/add/", zone=zone.pk)

    assert "zone" in errors_of(answer)

import time
from threading import Event

import pytest
from django.db import connection

from commerce.taxes.models import TaxRate
from shipping.locks import lock_method, lock_zone
from shipping.models import ShippingMethod, ShippingRate, ShippingZone
from tests import factories
from tests.backoffice.clients import filled, make_staff, messages_of
from tests.threads import run_threads

METHOD = {
    "handle": "parcel",
    "name": "Parcel",
    "rate_mode": "tiered",
    "carrier": "dhl",
    "service_code": "eu",
    "cod_fee_cents": 0,
    "carrier_config": "{}",
}
ZONE = {"handle": "de", "name": "Germany", "country_codes": "DE"}


def errors_of(answer):
    return answer.context["adminform"].form.errors


def row_errors(answer, row=0):
    """Return the errors shown at one row of the rates."""
    assert errors_of(answer) == {}
    return answer.context["inline_admin_formsets"][0].formset.errors[row]


def method_path(method):
    return f"shipping/shippingmethod/{method.pk}/change/"


def test_tax_rate_is_added_changed_and_deleted(shop, owner):
    owner.fill("taxes/taxrate/add/", country_code="de", tax_class="reduced", rate_bp="7 %")
    with shop.scope():
        rate = TaxRate.objects.get()

    owner.fill(f"taxes/taxrate/{rate.pk}/change/", rate_bp="5")
    with shop.scope():
        changed = TaxRate.objects.get()
    owner.post(f"taxes/taxrate/{rate.pk}/delete/", {"post": "yes"})

    assert (rate.country_code, rate.rate_bp, changed.rate_bp) == ("DE", 700, 500)
    with shop.scope():
        assert not TaxRate.objects.exists()


def test_second_tax_rate_of_a_class_is_a_form_error(shop, owner):
    factories.make_tax_rate(shop, 1900)

    answer = owner.fill("taxes/taxrate/add/", country_code="DE", tax_class="standard", rate_bp=20)

    assert list(errors_of(answer)) == ["__all__"]
    with shop.scope():
        assert TaxRate.objects.get().rate_bp == 1900


@pytest.mark.parametrize(
    ("field", "value"),
    [("country_code", "XX"), ("rate_bp", "100.01"), ("rate_bp", "-1"), ("tax_class", "A b")],
)
def test_tax_rate_that_the_api_refuses_is_a_form_error(shop, owner, field, value):
    fields = {"country_code": "DE", "tax_class": "standard", "rate_bp": 19, field: value}

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
        rates__0__price_cents="3.90",
        rates__1__DELETE="on",
        rates__2__price_cents="6.90",
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


def test_method_is_added_with_its_rates(shop, owner):
    zone = factories.make_zone(shop)

    owner.fill(
        "shipping/shippingmethod/add/",
        **METHOD | {"zone": zone.pk, "carrier_config": '{"shop_id": "42"}'},
        rates__TOTAL_FORMS=2,
        rates__0__price_cents="4.90",
        rates__0__currency="eur",
        rates__1__price_cents="0.00",
        rates__1__currency="EUR",
        rates__1__display_name="Over 50",
        rates__1__min_subtotal_cents="50.00",
    )

    with shop.scope():
        method = ShippingMethod.objects.get()
        rates = list(method.rates.order_by("pk"))
    assert (method.zone_id, method.carrier, method.carrier_config) == (zone.pk, "dhl", {"shop_id": "42"})
    assert [(rate.price_cents, rate.currency, rate.min_subtotal_cents) for rate in rates] == [
        (490, "EUR", None),
        (0, "EUR", 5000),
    ]


def test_method_is_changed(shop, owner):
    method = factories.make_method(shop)
    zone = factories.make_zone(shop)

    owner.fill(
        method_path(method),
        name="Express",
        zone=zone.pk,
        estimated_days_min=1,
        estimated_days_max=2,
        cod_fee_cents="0.99",
    )

    with shop.scope():
        changed = ShippingMethod.objects.get()
    assert (changed.name, changed.zone_id, changed.cod_fee_cents) == ("Express", zone.pk, 99)
    assert (changed.estimated_days_min, changed.estimated_days_max) == (1, 2)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("handle", "Not a handle"),
        ("carrier", "DHL Express"),
        ("service_code", "a b"),
        ("estimated_days_min", "-1"),
        ("estimated_days_max", "32768"),
        ("cod_fee_cents", "-1"),
        ("carrier_config", "[]"),
        ("carrier_config", "{"),
        ("zone", "0"),
    ],
)
def test_method_that_the_api_refuses_is_a_form_error(shop, owner, field, value):
    zone = factories.make_zone(shop)

    answer = owner.fill("shipping/shippingmethod/add/", **METHOD | {"zone": zone.pk, field: value})

    assert list(errors_of(answer)) == [field]
    with shop.scope():
        assert not ShippingMethod.objects.exists()


def test_days_upside_down_are_an_error_of_their_field(shop, owner):
    method = factories.make_method(shop)

    answer = owner.fill(method_path(method), estimated_days_min=3, estimated_days_max=1)

    assert list(errors_of(answer)) == ["estimated_days_max"]
    with shop.scope():
        assert ShippingMethod.objects.get().estimated_days_min is None


def test_taken_handle_of_a_method_is_a_form_error(shop, owner):
    other = factories.make_method(shop)

    answer = owner.fill(
        "shipping/shippingmethod/add/", **METHOD | {"zone": other.zone_id, "handle": other.handle}
    )

    assert list(errors_of(answer)) == ["__all__"]
    with shop.scope():
        assert ShippingMethod.objects.get() == other


@pytest.mark.parametrize(
    ("mode", "rate", "field"),
    [
        ("tiered", {"price_cents": -1}, "price_cents"),
        ("tiered", {"price_cents": ""}, "price_cents"),
        ("tiered", {"currency": "EURO"}, "currency"),
        ("tiered", {"currency": "XXX"}, "currency"),
        ("tiered", {"max_weight_grams": "-1"}, "max_weight_grams"),
        ("tiered", {"max_weight_grams": "9" * 30}, "max_weight_grams"),
        ("tiered", {"min_weight_grams": 2, "max_weight_grams": 1}, "min_weight_grams"),
        ("tiered", {"min_subtotal_cents": 2, "max_subtotal_cents": 1}, "min_subtotal_cents"),
        ("tiered", {"min_quantity": 2, "max_quantity": 1}, "min_quantity"),
        ("flat", {"max_quantity": 1}, "max_quantity"),
        ("flat", {}, "__all__"),
        ("free", {"price_cents": 1}, "__all__"),
    ],
)
def test_rate_that_is_refused_is_an_error_of_its_row(shop, owner, mode, rate, field):
    method = factories.make_method(shop, rate_mode=mode)
    first = factories.make_rate(shop, method=method, price_cents=0)
    row = {"price_cents": 0, "currency": "EUR"} | rate

    answer = owner.fill(
        method_path(method),
        name="Changed",
        rates__TOTAL_FORMS=2,
        **{f"rates__1__{name}": value for name, value in row.items()},
    )

    assert list(row_errors(answer, 1)) == [field]
    assert row_errors(answer, 0) == {}
    with shop.scope():
        assert ShippingRate.objects.get() == first
        assert ShippingMethod.objects.get().name == method.name


@pytest.mark.parametrize(
    ("mode", "change", "field"),
    [
        ("tiered", {"min_quantity": 5, "max_quantity": 1}, "min_quantity"),
        ("flat", {"min_quantity": 5}, "min_quantity"),
        ("free", {"price_cents": 5}, "__all__"),
    ],
)
def test_change_of_a_rate_that_is_refused_is_an_error_of_its_row(shop, owner, mode, change, field):
    rate = factories.make_rate(shop, method=factories.make_method(shop, rate_mode=mode), price_cents=0)

    answer = owner.fill(
        method_path(rate.method), **{f"rates__0__{name}": value for name, value in change.items()}
    )

    assert list(row_errors(answer)) == [field]
    with shop.scope():
        unchanged = ShippingRate.objects.get()
    assert (unchanged.price_cents, unchanged.min_quantity) == (0, None)


def test_refused_rate_of_a_new_method_keeps_the_method_from_being_made(shop, owner):
    zone = factories.make_zone(shop)

    answer = owner.fill(
        "shipping/shippingmethod/add/",
        **METHOD | {"zone": zone.pk, "rate_mode": "free"},
        rates__TOTAL_FORMS=1,
        rates__0__price_cents="0.01",
        rates__0__currency="EUR",
    )

    assert list(row_errors(answer)) == ["__all__"]
    with shop.scope():
        assert not ShippingMethod.objects.exists()


def test_flat_rate_takes_the_place_of_one_that_is_deleted_with_it(shop, owner):
    rate = factories.make_rate(shop, method=factories.make_method(shop, rate_mode="flat"))

    owner.fill(
        method_path(rate.method),
        rates__TOTAL_FORMS=2,
        rates__0__DELETE="on",
        rates__1__price_cents="6.90",
        rates__1__currency="EUR",
    )

    with shop.scope():
        live = ShippingRate.objects.get(deleted_at__isnull=True)
    assert (live.price_cents, live.is_flat) == (690, True)


def test_mode_that_the_rates_do_not_allow_is_a_form_error(shop, owner):
    rate = factories.make_rate(shop, price_cents=490)

    answer = owner.fill(method_path(rate.method), rate_mode="free")

    assert list(errors_of(answer)) == ["__all__"]
    with shop.scope():
        assert ShippingMethod.objects.get().rate_mode == "tiered"


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


@pytest.mark.django_db(transaction=True)
def test_page_that_moves_a_method_locks_the_zone_first_as_the_api_does(make_shop):
    shop = make_shop()
    owner = make_staff(shop)
    method, zone = factories.make_method(shop), factories.make_zone(shop)
    sent = filled(owner.get(method_path(method))) | {"zone": zone.pk, "name": "By page"}
    has_locked = Event()

    def move(index):
        if index:
            assert has_locked.wait(timeout=30)
            return owner.browser.post(f"/backoffice/{method_path(method)}", sent).status_code
        with shop.scope():
            lock_zone(zone.pk)
            has_locked.set()
            wait_until(is_somebody_waiting)
            # If the page waited for the zone with the method locked, this would be a deadlock.
            return lock_method(method.pk).name

    assert run_threads(2, move) == [method.name, 302]
    with shop.scope():
        moved = ShippingMethod.objects.get(pk=method.pk)
    assert (moved.zone_id, moved.name) == (zone.pk, "By page")


def is_somebody_waiting():
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return cursor.fetchone()[0]


def wait_until(is_so, *, within_s=30):
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from accounts.queries import current_account
from commerce.backoffice.display import label_column, weight_column
from commerce.backoffice.forms import is_saving
from commerce.backoffice.inlines import RowsInline
from commerce.backoffice.measure_fields import Read, find_measure
from commerce.backoffice.measures import Measure, Money, count_digits
from commerce.backoffice.options import EditableAdmin, ReadOnlyAdmin
from commerce.queries import sum_up
from commerce.tenancy.locks import lock

from . import operations
from .models import LIVE, PickupPoint, ShippingMethod, ShippingRate, ShippingZone
from .rules import METHOD, RATE, ZONE
from .zone_tester import ZoneTester


@admin.register(ShippingZone)
class ShippingZoneAdmin(ZoneTester, EditableAdmin):
    area = "shipping"
    deletable = True
    rules = ZONE
    # Patterns match postcodes of the countries, so a concurrent change of either makes a change of the other conflict.
    together = ({"country_codes", "zip_patterns"},)
    list_display = ("name", "handle", "market", "countries", "method_count")
    list_filter = ("market",)
    list_select_related = ("market",)
    search_fields = ("name", "handle")
    fields = ("handle", "name", "market", "country_codes", "zip_patterns")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ShippingZone]:
        live_methods = sum_up(ShippingMethod.objects.filter(LIVE), "zone")
        return super().get_queryset(request).filter(LIVE).annotate(live_methods=live_methods)

    @display(description=gettext_lazy("Countries"))
    def countries(self, zone: ShippingZone) -> str:
        return ", ".join(zone.country_codes)

    @display(description=gettext_lazy("Methods"), ordering="live_methods")
    def method_count(self, zone: Any) -> int:
        return zone.live_methods

    def create_row(self, fields: Mapping[str, object], now: datetime) -> ShippingZone:
        return operations.create_zone(fields=fields)

    def update_row(self, row: ShippingZone, changes: Mapping[str, object], now: datetime) -> ShippingZone:
        return operations.update_zone(zone_id=row.pk, changes=changes)

    def delete_row(self, row: ShippingZone, now: datetime) -> None:
        operations.delete_zone(zone_id=row.pk, now=now)


class RateRows(RowsInline):
    model = ShippingRate
    rules = RATE
    together = tuple(
        {"currency", name} for name in ("price_cents", "min_subtotal_cents", "max_subtotal_cents")
    )
    hide_title = True
    ordering = ("pk",)
    fields = (
        "price_cents",
        "currency",
        "display_name",
        "min_weight_grams",
        "max_weight_grams",
        "min_subtotal_cents",
        "max_subtotal_cents",
        "min_quantity",
        "max_quantity",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[ShippingRate]:
        return super().get_queryset(request).filter(LIVE)

    def create_row(self, owner: ShippingMethod, fields: Mapping[str, object], now: datetime) -> ShippingRate:
        return operations.create_rate(method_id=owner.pk, fields=fields, now=now)

    def update_row(self, row: ShippingRate, changes: Mapping[str, object], now: datetime) -> ShippingRate:
        return operations.update_rate(rate_id=row.pk, changes=changes, now=now)

    def delete_row(self, row: ShippingRate, now: datetime) -> None:
        operations.delete_rate(rate_id=row.pk, now=now)


def find_method_measure(name: str, read: Read) -> Measure | None:
    """Return the measure of a column of a method. Its fee is in the currency of the rate that a customer gets."""
    if name != "cod_fee_cents":
        return find_measure(name, read)
    method_id = read("id")
    rates = ShippingRate.objects.filter(LIVE, method=method_id) if method_id else ShippingRate.objects.none()
    currencies = sorted(set(rates.values_list("currency", flat=True)))
    # Rates in several currencies share the number of cents. Those with more digits can write every number of them.
    return Money(max(currencies, key=count_digits) if currencies else current_account().default_currency)


@admin.register(ShippingMethod)
class ShippingMethodAdmin(ZoneTester, EditableAdmin):
    area = "shipping"
    deletable = True
    rules = METHOD
    find_measure = staticmethod(find_method_measure)
    together = ({"carrier", "service_code", "carrier_config"},)
    list_display = ("name", "zone", "carrier", "service_code", "rate_mode", "rate_count", "is_cod_compatible")
    list_filter = ("rate_mode", "is_cod_compatible", "requires_pickup_point")
    list_select_related = ("zone",)
    search_fields = ("name", "handle", "carrier")
    inlines = (RateRows,)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("handle", "name"),
                    ("zone", "rate_mode"),
                    ("carrier", "service_code"),
                    ("requires_pickup_point", "is_cod_compatible", "cod_fee_cents"),
                    ("estimated_days_min", "estimated_days_max"),
                    "carrier_config",
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[ShippingMethod]:
        live_rates = sum_up(ShippingRate.objects.filter(LIVE), "method")
        return super().get_queryset(request).filter(LIVE).annotate(live_rates=live_rates)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> ShippingMethod | None:
        # The page locks the method here, and the operation locks the zone later, which must come first in the order of
        # locks. So it is locked now; the operation names the field if it isn't valid. 18 digits always fit into a bigint.
        zone_id = request.POST.get("zone", "")
        if is_saving(request) and zone_id.isdecimal() and len(zone_id) < 19:
            lock(ShippingZone.objects.filter(LIVE, pk=int(zone_id))).first()
        return super().get_object(request, object_id, from_field)

    @display(description=gettext_lazy("Rates"), ordering="live_rates")
    def rate_count(self, method: Any) -> int:
        return method.live_rates

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: object) -> object:
        if db_field.name == "zone":
            kwargs["queryset"] = ShippingZone.objects.filter(LIVE).order_by("name")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def create_row(self, fields: Mapping[str, object], now: datetime) -> ShippingMethod:
        return operations.create_method(fields=fields)

    def update_row(self, row: ShippingMethod, changes: Mapping[str, object], now: datetime) -> ShippingMethod:
        return operations.update_method(method_id=row.pk, changes=changes, now=now)

    def lock_selected(self, ids: list[int]) -> None:
        operations.lock_methods_to_delete(ids)

    def delete_row(self, row: ShippingMethod, now: datetime) -> None:
        operations.delete_method(method_id=row.pk, now=now)


@admin.register(PickupPoint)
class PickupPointAdmin(ReadOnlyAdmin):
    area = "shipping"
    list_display = (
        "name",
        "carrier",
        "kind",
        "zip",
        "city",
        "country_code",
        label_column("status", gettext_lazy("Status")),
        "updated_at",
    )
    list_filter = ("status", "kind")
    search_fields = ("external_id", "normalised_zip__startswith")
    search_help_text = gettext_lazy(
        "The carrier's number of the point, or the first characters of the postcode"
    )
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("name", "status"),
                    ("carrier", "external_id", "kind"),
                    "address1",
                    ("zip", "city", "country_code"),
                    ("latitude", "longitude"),
                    (
                        "is_cod_supported",
                        weight_column("max_weight_grams", gettext_lazy("Heaviest parcel")),
                        "updated_at",
                    ),
                    "opening_hours",
                )
            },
        ),
    )

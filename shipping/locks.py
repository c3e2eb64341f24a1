"""Locks rows that must exist and be live."""

from commerce.errors import NotFound
from commerce.tenancy.locks import lock

from .models import LIVE, ShippingMethod, ShippingRate, ShippingZone


def lock_zone(zone_id: int) -> ShippingZone:
    """Lock a live zone, so that it isn't deleted before the transaction ends; raises `NotFound`."""
    zone = lock(ShippingZone.objects.filter(LIVE, pk=zone_id)).first()
    if zone is None:
        raise NotFound
    return zone


def lock_method(method_id: int) -> ShippingMethod:
    """Lock a live method, so that its mode and rates don't change before the transaction ends; raises `NotFound`."""
    method = lock(ShippingMethod.objects.filter(LIVE, pk=method_id)).first()
    if method is None:
        raise NotFound
    return method


def lock_rate(rate_id: int) -> tuple[ShippingMethod, ShippingRate]:
    """Lock a live rate, and its method before it; raises `NotFound`."""
    rates = ShippingRate.objects.filter(LIVE, pk=rate_id)
    method_id = rates.values_list("method_id", flat=True).first()
    if method_id is None:
        raise NotFound
    method = lock_method(method_id)
    rate = lock(rates).first()
    if rate is None:
        raise NotFound
    return method, rate

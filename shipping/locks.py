"""Locks rows that must exist and be live."""

from commerce.errors import NotFound
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock

from .models import LIVE, ShippingMethod, ShippingRate, ShippingZone


def lock_zone(zone_id: int) -> ShippingZone:
    """Lock a live zone, so that it isn't deleted before the transaction ends; raises `NotFound`."""
    return get_or_not_found(lock(ShippingZone.objects.filter(LIVE)), pk=zone_id)


def lock_method(method_id: int) -> ShippingMethod:
    """Lock a live method, so that its mode and rates don't change before the transaction ends; raises `NotFound`."""
    return get_or_not_found(lock(ShippingMethod.objects.filter(LIVE)), pk=method_id)


def lock_rate(rate_id: int) -> tuple[ShippingMethod, ShippingRate]:
    """Lock a live rate, and its method before it; raises `NotFound`."""
    rates = ShippingRate.objects.filter(LIVE)
    # Only the rate says which method to lock first. It may be read without a lock, as no rate moves to another method.
    method_id = rates.filter(pk=rate_id).values_list("method_id", flat=True).first()
    if method_id is None:
        raise NotFound
    method = lock_method(method_id)
    # The rate may have been deleted since it was read, so it is looked for again.
    return method, get_or_not_found(lock(rates), pk=rate_id)

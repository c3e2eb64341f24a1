from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from commerce.errors import NotFound, ValidationFailed
from commerce.tenancy.locks import lock_now
from shipping.errors import RateModeConflict, RateModeNotAvailable
from shipping.locks import lock_method, lock_zone
from shipping.models import LIVE, ShippingMethod, ShippingRate
from shipping.queries import get_method
from shipping.rules import METHOD

from .rates import retire_automatic_rates

RateMode = ShippingMethod.RateMode


def create_method(*, fields: Mapping[str, object]) -> ShippingMethod:
    """Create a method in a live zone.

    Raises `ValidationFailed`, also for an unknown zone or a maximum of days below the minimum,
    `RateModeNotAvailable`, and `HandleTaken` from the unique constraint.
    """
    fields = METHOD.check(fields)
    _lock_named_zone(fields)
    method = ShippingMethod(**fields)
    _require_sound(method)
    method.save(force_insert=True)
    # Read again with its rates, which the API answers with.
    return get_method(method.pk)


def update_method(*, method_id: int, changes: Mapping[str, object], now: datetime) -> ShippingMethod:
    """Change a live method. Raises `NotFound`, `RateModeConflict`, and whatever `create_method` raises."""
    changes = METHOD.check(changes, partial=True)
    # Before the method, as zones come first in the order of locks.
    _lock_named_zone(changes)
    method = lock_method(method_id)
    mode_before = method.rate_mode
    for name, value in changes.items():
        setattr(method, name, value)
    _require_sound(method)
    if method.rate_mode != mode_before:
        _fit_rates_to_mode(method, now=now)
    method.save(update_fields=[*changes, "updated_at"])
    return get_method(method_id)


def delete_method(*, method_id: int, now: datetime) -> None:
    """Delete a method with its rates. Snapshots in checkouts and orders stay. Raises `NotFound`."""
    # The UPDATE also locks the method, so no rate is added to it until this has committed.
    if not ShippingMethod.objects.filter(LIVE, pk=method_id).update(deleted_at=now):
        raise NotFound
    ShippingRate.objects.filter(LIVE, method_id=method_id).update(deleted_at=now)


def lock_methods_to_delete(method_ids: Sequence[int]) -> None:
    """Lock several methods, then their rates, before each is deleted."""
    lock_now(ShippingMethod.objects.filter(pk__in=method_ids))
    lock_now(ShippingRate.objects.filter(method_id__in=method_ids))


def _lock_named_zone(fields: Mapping[str, Any]) -> None:
    """Lock the zone named in the fields, if any, so that it isn't deleted meanwhile."""
    if "zone_id" not in fields:
        return
    try:
        lock_zone(fields["zone_id"])
    except NotFound:
        # Not a 404, which would be about the URL.
        raise ValidationFailed.unknown("zone_id") from None


def _require_sound(method: ShippingMethod) -> None:
    if method.rate_mode == RateMode.CARRIER_API:
        raise RateModeNotAvailable
    soonest, latest = method.estimated_days_min, method.estimated_days_max
    if soonest is not None and latest is not None and soonest > latest:
        raise ValidationFailed.of("estimated_days_max", "below_min", "Must be at least estimated_days_min.")


def _fit_rates_to_mode(method: ShippingMethod, *, now: datetime) -> None:
    """Adapt the rates to the method's new mode; raises `RateModeConflict` if it doesn't allow some of them."""
    # First, so that automatic rates, which aren't the merchant's own, cause no conflict.
    retire_automatic_rates(method, now=now)
    is_free, is_flat = method.rate_mode == RateMode.FREE, method.rate_mode == RateMode.FLAT
    live = ShippingRate.objects.filter(LIVE, method=method)
    conflicting: list[int] = []
    currencies: set[str] = set()
    for rate in live.order_by("pk"):
        # A flat method has one price per currency, so the first rate of each may stay.
        breaks_flat = bool(rate.bounds) or rate.currency in currencies
        if (is_free and not rate.is_free) or (is_flat and breaks_flat):
            conflicting.append(rate.pk)
        currencies.add(rate.currency)
    if conflicting:
        raise RateModeConflict(rate_ids=conflicting)
    live.update(is_flat=is_flat)

from collections.abc import Mapping
from datetime import datetime

from commerce.errors import FieldError, NotFound, ValidationFailed
from commerce.wording import Wording
from shipping.errors import RateMustBeFree, TooManyRates
from shipping.locks import lock_method, lock_rate
from shipping.models import BOUNDED, LIVE, ShippingMethod, ShippingRate
from shipping.rules import RATE

RateMode = ShippingMethod.RateMode
# Per method, because a quote compares all of them.
MAX_RATES = 1_000


def create_rate(*, method_id: int, fields: Mapping[str, object], now: datetime) -> ShippingRate:
    """Create a rate of a live method.

    Raises `NotFound`, `ValidationFailed`, also for a minimum above its maximum or bounds on a flat rate,
    `RateMustBeFree`, `TooManyRates`, and `FlatRateExists` from the unique constraint.
    """
    fields = RATE.check(fields)
    # Locked against a change of its mode, and so that rates created at once are counted one by one.
    method = lock_method(method_id)
    rate = ShippingRate(method=method, is_flat=method.rate_mode == RateMode.FLAT, **fields)
    _require_sound(rate, mode=method.rate_mode)
    retire_automatic_rates(method, now=now)
    if ShippingRate.objects.filter(LIVE, method=method).count() >= MAX_RATES:
        raise TooManyRates(max_rates=MAX_RATES)
    rate.save(force_insert=True)
    return rate


def update_rate(*, rate_id: int, changes: Mapping[str, object], now: datetime) -> ShippingRate:
    """Change a live rate. An automatic one becomes the merchant's own. Raises like `create_rate`."""
    changes = RATE.check(changes, partial=True)
    method, rate = lock_rate(rate_id)
    for name, value in changes.items():
        setattr(rate, name, value)
    # Before the automatic rates are retired, so that this one stays.
    rate.is_automatic = False
    _require_sound(rate, mode=method.rate_mode)
    rate.save(update_fields=[*changes, "is_automatic", "updated_at"])
    retire_automatic_rates(method, now=now)
    return rate


def delete_rate(*, rate_id: int, now: datetime) -> None:
    """Delete a rate. Snapshots in checkouts and orders stay. Raises `NotFound`."""
    # One conditional UPDATE suffices: deleting a rate can't break a rule of its method.
    if not ShippingRate.objects.filter(LIVE, pk=rate_id).update(deleted_at=now):
        raise NotFound


def retire_automatic_rates(method: ShippingMethod, *, now: datetime) -> None:
    """Delete automatic rates, when the method gets rates of its own or another mode.

    A shopper's concurrent choice may still store one afterwards; it is ignored (`Candidate.uses_automatic_rates`).
    """
    ShippingRate.objects.filter(LIVE, method=method, is_automatic=True).update(deleted_at=now)


def _require_sound(rate: ShippingRate, *, mode: str) -> None:
    # Checked on the row, as a change may name one bound only. The table's constraints wouldn't name all errors at once.
    errors = []
    for bounded in BOUNDED:
        low, high = getattr(rate, f"min_{bounded}"), getattr(rate, f"max_{bounded}")
        if low is not None and high is not None and low > high:
            errors.append(
                FieldError(
                    f"min_{bounded}", "above_max", Wording("Must be at most max_%(bound)s.", bound=bounded)
                )
            )
    if mode == RateMode.FLAT:
        errors += [
            FieldError(bound, "not_allowed", "A flat rate can't have bounds.") for bound in rate.bounds
        ]
    if errors:
        raise ValidationFailed(errors=tuple(errors))
    if mode == RateMode.FREE and not rate.is_free:
        raise RateMustBeFree

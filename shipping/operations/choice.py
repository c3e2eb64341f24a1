from typing import NoReturn

from commerce.errors import ValidationFailed
from shipping import matching, quotes
from shipping.errors import CurrencyMismatch, ShippingRateNotAvailable
from shipping.matching import Option, Parcel
from shipping.models import ShippingMethod, ShippingRate


def choose_option(parcel: Parcel, *, method_id: int, rate_id: int) -> Option:
    """Find the option that a shopper chose, and store its rate if it was made for a free method and isn't stored yet.

    One statement, and a second one for such a rate. Raises `ValidationFailed` for unknown ids, `CurrencyMismatch` for a
    rate in another currency, and `ShippingRateNotAvailable` for one that doesn't apply or was deleted.
    """
    found = quotes.candidates(parcel, method_id=method_id)
    options = matching.options(parcel, [candidate.completed(parcel) for candidate in found])
    option = next((option for option in options if option.rate.id == rate_id), None)
    if option is None:
        _refuse_option(parcel, method_id=method_id, rate_id=rate_id)
    stored = {rate.id for candidate in found for rate in candidate.rates}
    if rate_id not in stored and not quotes.store_made_rate(option):
        raise ShippingRateNotAvailable
    return option


def _refuse_option(parcel: Parcel, *, method_id: int, rate_id: int) -> NoReturn:
    """Say why a method and a rate aren't offered."""
    unknown = [] if ShippingMethod.objects.filter(pk=method_id).exists() else ["shipping_method_id"]
    rate = ShippingRate.objects.filter(pk=rate_id).first() or _made_rate(rate_id)
    if rate is None:
        raise ValidationFailed.unknown(*unknown, "shipping_rate_id")
    if unknown:
        raise ValidationFailed.unknown(*unknown)
    if rate.method_id == method_id and rate.deleted_at is None and rate.currency != parcel.currency:
        raise CurrencyMismatch(currency=parcel.currency, rate_currency=rate.currency)
    raise ShippingRateNotAvailable


def _made_rate(rate_id: int) -> ShippingRate | None:
    """A made rate that was quoted but never stored; None if no method of the account has this id for one."""
    made = matching.read_made_rate_id(rate_id)
    if made is None or not ShippingMethod.objects.filter(pk=made[0]).exists():
        return None
    return ShippingRate(pk=rate_id, method_id=made[0], currency=made[1])

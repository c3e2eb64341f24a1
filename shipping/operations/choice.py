from typing import NoReturn

from commerce.errors import ValidationFailed
from shipping import matching, quotes
from shipping.errors import CurrencyMismatch, ShippingRateNotAvailable
from shipping.matching import Option, Parcel
from shipping.models import ShippingMethod, ShippingRate


def choose_option(parcel: Parcel, *, method_id: int, rate_id: int) -> Option:
    """Find the option that a shopper chose. If its rate is an automatic one that isn't stored yet, store it.

    One statement, and a second one for such a rate. Raises `ValidationFailed` for unknown ids, `CurrencyMismatch` for a
    rate in another currency, and `ShippingRateNotAvailable` for one that doesn't apply or was deleted.
    """
    candidates = quotes.load_candidates(parcel, method_id=method_id)
    options = matching.list_options(
        parcel, [candidate.with_automatic_rate(parcel) for candidate in candidates]
    )
    option = next((option for option in options if option.rate.id == rate_id), None)
    if option is None:
        _refuse_option(parcel, method_id=method_id, rate_id=rate_id)
    stored = {rate.id for candidate in candidates for rate in candidate.rates}
    # Checkouts and orders keep the rate's id, so it must exist. The merchant may have changed the method meanwhile.
    if rate_id not in stored and not quotes.store_automatic_rate(option):
        raise ShippingRateNotAvailable
    return option


def _refuse_option(parcel: Parcel, *, method_id: int, rate_id: int) -> NoReturn:
    """Say why a method and a rate aren't offered. Apart from `choose_option`, as only a refusal needs to know."""
    # Deleted rows are found too: the shopper may have seen them in a quote, so their ids aren't wrong.
    unknown = [] if ShippingMethod.objects.filter(pk=method_id).exists() else ["shipping_method_id"]
    rate = ShippingRate.objects.filter(pk=rate_id).first()
    if rate is None and (automatic := matching.read_automatic_rate_id(rate_id)):
        # An automatic rate that was quoted but never stored has no row, only a method of the account.
        of_method_id, currency = automatic
        if ShippingMethod.objects.filter(pk=of_method_id).exists():
            rate = ShippingRate(pk=rate_id, method_id=of_method_id, currency=currency)
    if rate is None:
        raise ValidationFailed.unknown(*unknown, "shipping_rate_id")
    if unknown:
        raise ValidationFailed.unknown(*unknown)
    if rate.method_id == method_id and rate.deleted_at is None and rate.currency != parcel.currency:
        raise CurrencyMismatch(currency=parcel.currency, rate_currency=rate.currency)
    raise ShippingRateNotAvailable

"""Word the objections of `matching` for staff."""

from django.template.defaultfilters import pluralize

from commerce.backoffice.display import format_money

from .matching import Objection, Parcel, Verdict
from .models import ShippingZone


def why_not_zone(zone: ShippingZone, objection: Objection | None, parcel: Parcel) -> str:
    """Say why a zone offers nothing. Without an objection, it has no methods."""
    if objection is Objection.COUNTRY:
        return f"The zone doesn't cover {parcel.country_code}."
    if objection is Objection.MARKET:
        return f"The zone is only for the market {zone.market}."
    if objection is Objection.POSTCODE and not parcel.zip:
        return "The zone covers only some postcodes, and no postcode was given."
    if objection is Objection.POSTCODE:
        return f"None of the zone's patterns matches {parcel.zip}."
    return "The zone covers the address, but has no methods."


def why_not_rate(verdict: Verdict, parcel: Parcel) -> str:
    """Say why a rate isn't offered. Without a rate, the method has none."""
    rate = verdict.rate
    if rate is None:
        return "The method has no rates."
    if verdict.objection is Objection.SUPERSEDED:
        return "The rate was created automatically, and the method now has rates of its own."
    if verdict.objection is Objection.CURRENCY:
        return f"The price is in {rate.currency}, not {parcel.currency}."
    if verdict.objection is Objection.WEIGHT:
        bounds = _bounds(_grams(rate.min_weight_grams), _grams(rate.max_weight_grams))
        return f"{bounds}; the parcel weighs {_grams(parcel.weight_grams)}."
    if verdict.objection is Objection.SUBTOTAL:
        bounds = _bounds(
            _price(rate.min_subtotal_cents, rate.currency), _price(rate.max_subtotal_cents, rate.currency)
        )
        return f"{bounds}; the goods cost {format_money(parcel.subtotal_cents, parcel.currency)}."
    bounds = _bounds(_pieces(rate.min_quantity), _pieces(rate.max_quantity))
    return f"{bounds}; the parcel has {_pieces(parcel.quantity)}."


def _bounds(low: str, high: str) -> str:
    if low and high:
        return f"From {low} to {high}"
    return f"From {low}" if low else f"Up to {high}"


def _grams(grams: int | None) -> str:
    return "" if grams is None else f"{grams:,} g"


def _price(cents: int | None, currency: str) -> str:
    return "" if cents is None else format_money(cents, currency)


def _pieces(quantity: int | None) -> str:
    return "" if quantity is None else f"{quantity:,} item{pluralize(quantity)}"

"""Word the objections of `matching` for staff."""

from django.template.defaultfilters import pluralize

from commerce.backoffice.display import format_money, format_weight

from .matching import Objection, Parcel, Verdict
from .models import ShippingZone


def explain_refused_zone(zone: ShippingZone, objection: Objection | None, parcel: Parcel) -> str:
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


def explain_refused_rate(verdict: Verdict, parcel: Parcel) -> str:
    """Say why a rate isn't offered. Without a rate, the method has none."""
    rate = verdict.rate
    if rate is None:
        return "The method has no rates."
    if verdict.objection is Objection.SUPERSEDED:
        return "The rate was created automatically, and the method now has rates of its own."
    if verdict.objection is Objection.CURRENCY:
        return f"The price is in {rate.currency}, not {parcel.currency}."
    if verdict.objection is Objection.WEIGHT:
        bounds = _word_bounds(_word_grams(rate.min_weight_grams), _word_grams(rate.max_weight_grams))
        return f"{bounds}; the parcel weighs {_word_grams(parcel.weight_grams)}."
    if verdict.objection is Objection.SUBTOTAL:
        bounds = _word_bounds(
            _word_price(rate.min_subtotal_cents, rate.currency),
            _word_price(rate.max_subtotal_cents, rate.currency),
        )
        return f"{bounds}; the goods cost {format_money(parcel.subtotal_cents, parcel.currency)}."
    # The quantity is the only bound that is left.
    bounds = _word_bounds(_word_pieces(rate.min_quantity), _word_pieces(rate.max_quantity))
    return f"{bounds}; the parcel has {_word_pieces(parcel.quantity)}."


def _word_bounds(low: str, high: str) -> str:
    # At least one is set, as the parcel would lie within open bounds.
    if low and high:
        return f"From {low} to {high}"
    return f"From {low}" if low else f"Up to {high}"


def _word_grams(grams: int | None) -> str:
    return "" if grams is None else format_weight(grams)


def _word_price(cents: int | None, currency: str) -> str:
    return "" if cents is None else format_money(cents, currency)


def _word_pieces(quantity: int | None) -> str:
    return "" if quantity is None else f"{quantity:,} item{pluralize(quantity)}"

"""Word the objections of `matching` for staff."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from commerce.backoffice.display import format_money, format_weight

from .matching import Objection, Parcel, Verdict
from .models import ShippingZone


def explain_refused_zone(zone: ShippingZone, objection: Objection | None, parcel: Parcel) -> str:
    """Say why a zone offers nothing. Without an objection, it has no methods."""
    if objection is Objection.COUNTRY:
        return _("The zone doesn't cover %(country)s.") % {"country": parcel.country_code}
    if objection is Objection.MARKET:
        return _("The zone is only for the market %(market)s.") % {"market": zone.market}
    if objection is Objection.POSTCODE and not parcel.zip:
        return _("The zone covers only some postcodes, and no postcode was given.")
    if objection is Objection.POSTCODE:
        return _("None of the zone's patterns matches %(postcode)s.") % {"postcode": parcel.zip}
    return _("The zone covers the address, but has no methods.")


def explain_refused_rate(verdict: Verdict, parcel: Parcel) -> str:
    """Say why a rate isn't offered. Without a rate, the method has none."""
    rate = verdict.rate
    if rate is None:
        return _("The method has no rates.")
    if verdict.objection is Objection.SUPERSEDED:
        return _("The rate was created automatically, and the method now has rates of its own.")
    if verdict.objection is Objection.CURRENCY:
        return _("The price is in %(currency)s, not %(wanted)s.") % {
            "currency": rate.currency,
            "wanted": parcel.currency,
        }
    if verdict.objection is Objection.WEIGHT:
        bounds = _word_bounds(_word_grams(rate.min_weight_grams), _word_grams(rate.max_weight_grams))
        return _("%(bounds)s; the parcel weighs %(weight)s.") % {
            "bounds": bounds,
            "weight": _word_grams(parcel.weight_grams),
        }
    if verdict.objection is Objection.SUBTOTAL:
        bounds = _word_bounds(
            _word_price(rate.min_subtotal_cents, rate.currency),
            _word_price(rate.max_subtotal_cents, rate.currency),
        )
        return _("%(bounds)s; the goods cost %(amount)s.") % {
            "bounds": bounds,
            "amount": format_money(parcel.subtotal_cents, parcel.currency),
        }
    # The quantity is the only bound that is left.
    bounds = _word_bounds(_word_pieces(rate.min_quantity), _word_pieces(rate.max_quantity))
    return _("%(bounds)s; the parcel has %(units)s.") % {
        "bounds": bounds,
        "units": _word_pieces(parcel.quantity),
    }


def _word_bounds(low: str, high: str) -> str:
    # At least one is set, as the parcel would lie within open bounds.
    if low and high:
        return _("From %(low)s to %(high)s") % {"low": low, "high": high}
    return _("From %(low)s") % {"low": low} if low else _("Up to %(high)s") % {"high": high}


def _word_grams(grams: int | None) -> str:
    return "" if grams is None else format_weight(grams)


def _word_price(cents: int | None, currency: str) -> str:
    return "" if cents is None else format_money(cents, currency)


def _word_pieces(quantity: int | None) -> str:
    return (
        ""
        if quantity is None
        else ngettext("%(count)d item", "%(count)d items", quantity) % {"count": quantity}
    )

"""Explain to staff what a customer would be offered, and why other rates and zones aren't."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from commerce.queries import sum_up

from . import matching, quotes
from .matching import Candidate, Method, Objection, Option, Parcel, Rate, Zone
from .models import LIVE, ShippingMethod, ShippingZone
from .queries import zones
from .reasons import explain_refused_rate, explain_refused_zone


@dataclass(frozen=True, slots=True)
class Offer:
    """An option of a quote, and the zone of its method."""

    zone: ShippingZone
    option: Option


@dataclass(frozen=True, slots=True)
class RefusedRate:
    """A rate that isn't offered although its zone covers the address; `rate` is None if the method has no rates."""

    zone: ShippingZone
    method: Method
    rate: Rate | None
    reason: str


@dataclass(frozen=True, slots=True)
class RefusedZone:
    """A zone that doesn't cover the address or has no methods."""

    zone: ShippingZone
    method_count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Offers in a quote's order. Among the refused rates, those of methods without any offer come first."""

    offers: list[Offer]
    refused_rates: list[RefusedRate]
    refused_zones: list[RefusedZone]


def explain(parcel: Parcel) -> Explanation:
    """Return what a quote for the parcel offers, and why the account's other rates aren't offered. Two statements."""
    # Unlike a quote, which leaves out in SQL what can't be offered, this loads every zone to say why not.
    live_methods = sum_up(ShippingMethod.objects.filter(LIVE), "zone")
    rows: Iterable[Any] = (
        zones().select_related("market").annotate(live_methods=live_methods).order_by("name", "pk")
    )
    found = {zone.pk: zone for zone in rows}
    objections = {
        pk: Zone(zone.country_codes, zone.zip_patterns, zone.market_id, pk).find_objection(parcel)
        for pk, zone in found.items()
    }
    covering = [pk for pk, objection in objections.items() if objection is None]
    candidates = [
        candidate.with_automatic_rate(parcel) for candidate in quotes.load_zone_candidates(covering)
    ]
    zone_of = {candidate.method.id: found[candidate.zone.id] for candidate in candidates}
    options = matching.list_options(parcel, candidates)
    return Explanation(
        offers=[Offer(zone_of[option.method.id], option) for option in options],
        refused_rates=_list_refused_rates(
            parcel, candidates, zone_of, offered={option.method.id for option in options}
        ),
        refused_zones=_list_refused_zones(parcel, found, objections),
    )


def _list_refused_rates(
    parcel: Parcel, candidates: Iterable[Candidate], zone_of: Mapping[int, ShippingZone], *, offered: set[int]
) -> list[RefusedRate]:
    verdicts = [verdict for candidate in candidates for verdict in candidate.judge_rates(parcel)]
    # A method that is missing altogether matters more to staff than another price of one that is offered.
    verdicts.sort(key=lambda verdict: verdict.candidate.method.id in offered)
    return [
        RefusedRate(
            zone=zone_of[verdict.candidate.method.id],
            method=verdict.candidate.method,
            rate=verdict.rate,
            reason=explain_refused_rate(verdict, parcel),
        )
        for verdict in verdicts
        if verdict.objection
    ]


def _list_refused_zones(
    parcel: Parcel, found: Mapping[int, Any], objections: Mapping[int, Objection | None]
) -> list[RefusedZone]:
    """Return the refused zones, the nearest miss first."""
    # A zone without an objection only lacks methods.
    nearness = (None, Objection.POSTCODE, Objection.MARKET, Objection.COUNTRY)
    return [
        RefusedZone(
            found[pk], found[pk].live_methods, explain_refused_zone(found[pk], objections[pk], parcel)
        )
        for pk in sorted(found, key=lambda pk: nearness.index(objections[pk]))
        if objections[pk] or not found[pk].live_methods
    ]

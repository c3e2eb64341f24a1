"""Explain to staff what a customer would be offered, and why other rates and zones aren't."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from commerce.backoffice.annotations import sum_up

from . import matching, quotes
from .matching import Candidate, Method, Objection, Option, Parcel, Rate, Zone
from .models import LIVE, ShippingMethod, ShippingZone
from .queries import zones
from .reasons import why_not_rate, why_not_zone

# From the nearest miss to the furthest: the order in which refused zones are listed.
_ZONE_OBJECTIONS = (Objection.POSTCODE, Objection.MARKET, Objection.COUNTRY)


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
    found = {zone.pk: zone for zone in _load_zones_with_counts()}
    objections = {pk: _to_plain_zone(zone).objection(parcel) for pk, zone in found.items()}
    covering = [pk for pk, objection in objections.items() if objection is None]
    candidates = [candidate.completed(parcel) for candidate in quotes.candidates_of(covering)]
    zone_of = {candidate.method.id: found[candidate.zone.id] for candidate in candidates}
    options = matching.options(parcel, candidates)
    return Explanation(
        offers=[Offer(zone_of[option.method.id], option) for option in options],
        refused_rates=_refused_rates(parcel, candidates, zone_of, options),
        refused_zones=_refused_zones(parcel, found.values(), objections),
    )


def _load_zones_with_counts() -> Iterable[Any]:
    live_methods = sum_up(ShippingMethod.objects.filter(LIVE), "zone")
    return zones().select_related("market").annotate(live_methods=live_methods).order_by("name", "pk")


def _to_plain_zone(zone: ShippingZone) -> Zone:
    return Zone(zone.country_codes, zone.zip_patterns, zone.market_id, zone.pk)


def _refused_rates(
    parcel: Parcel, candidates: Iterable[Candidate], zone_of: dict[int, Any], options: Sequence[Option]
) -> list[RefusedRate]:
    offered = {option.method.id for option in options}
    verdicts = [verdict for candidate in candidates for verdict in candidate.verdicts(parcel)]
    verdicts.sort(key=lambda verdict: verdict.candidate.method.id in offered)
    return [
        RefusedRate(
            zone=zone_of[verdict.candidate.method.id],
            method=verdict.candidate.method,
            rate=verdict.rate,
            reason=why_not_rate(verdict, parcel),
        )
        for verdict in verdicts
        if verdict.objection
    ]


def _refused_zones(
    parcel: Parcel, found: Iterable[Any], objections: dict[int, Objection | None]
) -> list[RefusedZone]:
    """Return the refused zones, the nearest miss first."""
    refused = [
        RefusedZone(zone, zone.live_methods, why_not_zone(zone, objections[zone.pk], parcel))
        for zone in found
        if objections[zone.pk] or not zone.live_methods
    ]
    return sorted(refused, key=lambda row: _distance(objections[row.zone.pk]))


def _distance(objection: Objection | None) -> int:
    return _ZONE_OBJECTIONS.index(objection) + 1 if objection else 0

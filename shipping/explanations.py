"""What a customer would be offered and, for staff, why not more than that."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from commerce.backoffice.annotations import sum_up

from . import matching, quotes
from .matching import Candidate, Method, Objection, Option, Parcel, Rate, Zone
from .models import LIVE, ShippingMethod, ShippingZone
from .queries import zones
from .reasons import why_not_rate, why_not_zone

_ZONE_OBJECTIONS = (Objection.POSTCODE, Objection.MARKET, Objection.COUNTRY)


@dataclass(frozen=True, slots=True)
class Offer:
    """An option of a quote, and the zone that its method is bound to."""

    zone: ShippingZone
    option: Option


@dataclass(frozen=True, slots=True)
class RefusedRate:
    """A rate that is not offered although the zone covers the place, or a method that has none."""

    zone: ShippingZone
    method: Method
    rate: Rate | None
    reason: str


@dataclass(frozen=True, slots=True)
class RefusedZone:
    """A zone none of whose methods is offered."""

    zone: ShippingZone
    method_count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Offers in a quote's order; then rates of methods that aren't offered at all, then those of others."""

    offers: list[Offer]
    refused_rates: list[RefusedRate]
    refused_zones: list[RefusedZone]


def explain(parcel: Parcel) -> Explanation:
    """What a quote for the parcel would offer, and why the account's other rates aren't.

    Takes two statements. Nothing is written: a rate that a quote would make for a free method has the id 0.
    """
    found = {zone.pk: zone for zone in _counted_zones()}
    objections = {pk: _plain(zone).objection(parcel) for pk, zone in found.items()}
    covering = [pk for pk, objection in objections.items() if objection is None]
    candidates = [_completed(candidate, parcel) for candidate in quotes.candidates_of(covering)]
    zone_of = {candidate.method.id: found[candidate.zone.id] for candidate in candidates}
    options = matching.options(parcel, candidates)
    return Explanation(
        offers=[Offer(zone_of[option.method.id], option) for option in options],
        refused_rates=_refused_rates(parcel, candidates, zone_of, options),
        refused_zones=_refused_zones(parcel, found.values(), objections),
    )


def _counted_zones() -> Iterable[Any]:
    live_methods = sum_up(ShippingMethod.objects.filter(LIVE), "zone")
    return zones().select_related("market").annotate(live_methods=live_methods).order_by("name", "pk")


def _plain(zone: ShippingZone) -> Zone:
    return Zone(zone.country_codes, zone.zip_patterns, zone.market_id, zone.pk)


def _completed(candidate: Candidate, parcel: Parcel) -> Candidate:
    if candidate.lacks_rate(parcel):
        return candidate.completed(Rate.made(0, parcel.currency))
    return candidate


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
    """Those that come closest to the place first."""
    refused = [
        RefusedZone(zone, zone.live_methods, why_not_zone(zone, objections[zone.pk], parcel))
        for zone in found
        if objections[zone.pk] or not zone.live_methods
    ]
    return sorted(refused, key=lambda row: _distance(objections[row.zone.pk]))


def _distance(objection: Objection | None) -> int:
    return _ZONE_OBJECTIONS.index(objection) + 1 if objection else 0

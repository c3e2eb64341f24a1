from django.db.models import F, Prefetch, QuerySet
from django.db.models.expressions import Combinable

from accounts.queries import markets
from commerce.errors import NotFound, ValidationFailed
from commerce.paging import Cursor, Page, newest_first, page_of
from commerce.queries import get_or_not_found, sum_up

from . import matching, quotes
from .errors import PickupPointClosed, PickupPointMismatch, PickupPointRequired
from .matching import Option, Parcel
from .models import LIVE, PickupPoint, ShippingMethod, ShippingRate, ShippingZone

# Sorts after every character that a postcode can contain.
LAST_CHARACTER = "\U0010ffff"

# Ordering by an expression that no index has, and a range instead of LIKE, leave the planner only the index of
# postcodes. Otherwise it may walk a million points by id to find a few, depending on how the statement was prepared.
_NEWEST_FIRST = (F("pk") + 0).desc()
# The columns of a rate in an answer.
_RATE_BYTES = 500


def quote(parcel: Parcel) -> list[Option]:
    """Return all options for the parcel, in order, in one statement.

    A free method without rates is offered at 0 by an automatic one, which is stored only when it is chosen.
    """
    candidates = quotes.load_candidates(parcel)
    return matching.list_options(parcel, [candidate.with_automatic_rate(parcel) for candidate in candidates])


def choose_pickup_point(parcel: Parcel, *, option: Option, pickup_point_id: int | None) -> PickupPoint | None:
    """Return the pickup point that a shopper chose, or None if none was chosen and the method needs none.

    Raises `PickupPointRequired`, `PickupPointClosed`, `ValidationFailed` for an unknown id, and `PickupPointMismatch`
    for a point of another carrier, in another country than the address, or for lighter parcels only.
    """
    if pickup_point_id is None:
        if option.method.requires_pickup_point:
            raise PickupPointRequired
        return None
    point = PickupPoint.objects.filter(pk=pickup_point_id).first()
    if point is None:
        raise ValidationFailed.of("pickup_point_id", "not_found", "There is no such pickup point.")
    if point.carrier != option.method.carrier:
        raise PickupPointMismatch("The pickup point belongs to another carrier.")
    if point.country_code != parcel.country_code:
        raise PickupPointMismatch("The pickup point is in another country than the address.")
    if point.max_weight_grams is not None and point.max_weight_grams < parcel.weight_grams:
        raise PickupPointMismatch("The goods are too heavy for the pickup point.")
    # Last: that the point is closed only matters for one that would fit.
    if point.status == PickupPoint.Status.CLOSED:
        raise PickupPointClosed
    return point


def list_pickup_points(
    *,
    cursor: Cursor,
    carrier: str | None = None,
    country_code: str | None = None,
    postcode_prefix: str = "",
    status: str = PickupPoint.Status.ACTIVE,
) -> Page[PickupPoint]:
    """Return a page of pickup points, filtered by the given arguments, newest first. One statement."""
    points = PickupPoint.objects.filter(status=status)
    if carrier is not None:
        points = points.filter(carrier=carrier)
    if country_code is not None:
        points = points.filter(country_code=country_code)
    prefix = matching.normalise_zip(postcode_prefix)
    if not prefix:
        return newest_first(points, cursor)
    # A page of ids first, read from the index of postcodes alone. Only their rows are read from the table.
    in_range = points.filter(normalised_zip__gte=prefix, normalised_zip__lt=prefix + LAST_CHARACTER)
    if cursor.after_id is not None:
        in_range = in_range.filter(pk__lt=cursor.after_id)
    ids = in_range.order_by(_NEWEST_FIRST).values("pk")[: cursor.limit + 1]
    return page_of(PickupPoint.objects.filter(pk__in=ids), cursor, order=_NEWEST_FIRST)


def zones() -> QuerySet[ShippingZone]:
    return ShippingZone.objects.filter(LIVE)


def get_zone(zone_id: int) -> ShippingZone:
    """Return a zone of the account in scope; raises `NotFound`, also for a deleted one."""
    return get_or_not_found(zones(), pk=zone_id)


def methods() -> QuerySet[ShippingMethod]:
    """Return the live methods, with their live rates in a second statement."""
    # Without an order of their own, rates would change places in answers whenever one of them is updated.
    rates = Prefetch("rates", queryset=ShippingRate.objects.filter(LIVE).order_by("pk"))
    return ShippingMethod.objects.filter(LIVE).prefetch_related(rates)


def bytes_of_rates() -> Combinable:
    """The size in bytes of a method's rates in an answer, for each method of a page."""
    return sum_up(ShippingRate.objects.filter(LIVE), "method") * _RATE_BYTES


def get_method(method_id: int) -> ShippingMethod:
    """Return a method of the account in scope with its rates; raises `NotFound`, also for a deleted one."""
    return get_or_not_found(methods(), pk=method_id)


def rates_of(method_id: int) -> QuerySet[ShippingRate]:
    """Return the live rates of a live method; raises `NotFound`."""
    # An empty list would say that the method exists and has no rates.
    if not ShippingMethod.objects.filter(LIVE, pk=method_id).exists():
        raise NotFound
    return ShippingRate.objects.filter(LIVE, method_id=method_id)


def get_rate(rate_id: int) -> ShippingRate:
    """Return a live rate of the account in scope; raises `NotFound`.

    The method isn't checked: deleting a method deletes its rates.
    """
    return get_or_not_found(ShippingRate.objects.filter(LIVE), pk=rate_id)


def require_market(market_id: int | None) -> None:
    """Raise `ValidationFailed` for the id of a market that the account in scope doesn't have."""
    if market_id is not None and not markets().filter(pk=market_id).exists():
        raise ValidationFailed.unknown("market_id")

"""The description and answer of the list of pickup points, shared by the admin and the storefront API."""

from commerce.formats import text_id, timestamp
from commerce.rest.schema import PAGE_PARAMETERS, answers, many
from shipping.models import PickupPoint

from .serializers import PickupPointFilters, PickupPointOutput

describe_list = answers(
    many("pickup_points", PickupPointOutput),
    parameters=[*PAGE_PARAMETERS, PickupPointFilters],
)


def shape_pickup_point(point: PickupPoint) -> dict[str, object]:
    """Return a point in the shape of `PickupPointOutput`, without a serializer, which is slow on long pages."""
    return {
        "id": text_id(point.pk),
        "carrier": point.carrier,
        "external_id": point.external_id,
        "kind": point.kind,
        "name": point.name,
        "address1": point.address1,
        "city": point.city,
        "zip": point.zip,
        "country_code": point.country_code,
        "latitude": None if point.latitude is None else float(point.latitude),
        "longitude": None if point.longitude is None else float(point.longitude),
        "opening_hours": point.opening_hours,
        "is_cod_supported": point.is_cod_supported,
        "max_weight_grams": point.max_weight_grams,
        "status": point.status,
        "updated_at": timestamp(point.updated_at),
    }

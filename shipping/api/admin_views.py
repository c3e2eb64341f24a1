from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, envelope, many, one
from commerce.rest.views import AdminViewSet
from shipping import operations, queries
from shipping.matching import Parcel
from shipping.models import ShippingMethod, ShippingRate, ShippingZone

from . import serializers as shapes
from .pickup_points import describe_list, shape_pickup_point


class ZonesViewSet(AdminViewSet):
    area = "shipping"

    @answers(many("zones", shapes.ZoneOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        return Response(newest_first(queries.zones(), self.cursor).answer("zones", _shape_zone))

    @answers(one("zone", shapes.ZoneOutput), request=shapes.ZoneInput, status=201)
    def create(self, request: Request) -> Response:
        zone = operations.create_zone(fields=self.valid(shapes.ZoneInput))
        return Response({"zone": _shape_zone(zone)}, status=201)

    @answers(one("zone", shapes.ZoneOutput))
    def retrieve(self, request: Request, zone_id: int) -> Response:
        return Response({"zone": _shape_zone(queries.get_zone(zone_id))})

    @answers(one("zone", shapes.ZoneOutput), request=shapes.ZoneInput, partial=True)
    def update(self, request: Request, zone_id: int) -> Response:
        changes = self.valid(shapes.ZoneInput, partial=True)
        return Response({"zone": _shape_zone(operations.update_zone(zone_id=zone_id, changes=changes))})

    @answers(None, status=204)
    def destroy(self, request: Request, zone_id: int) -> Response:
        operations.delete_zone(zone_id=zone_id, now=timezone.now())
        return Response(status=204)


class MethodsViewSet(AdminViewSet):
    area = "shipping"

    @answers(many("methods", shapes.MethodOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        page = newest_first(queries.methods(), self.cursor, related_bytes=queries.bytes_of_rates())
        return Response(page.answer("methods", _shape_method))

    @answers(one("method", shapes.MethodOutput), request=shapes.MethodInput, status=201)
    def create(self, request: Request) -> Response:
        method = operations.create_method(fields=self.valid(shapes.MethodInput))
        return Response({"method": _shape_method(method)}, status=201)

    @answers(one("method", shapes.MethodOutput))
    def retrieve(self, request: Request, method_id: int) -> Response:
        return Response({"method": _shape_method(queries.get_method(method_id))})

    @answers(one("method", shapes.MethodOutput), request=shapes.MethodInput, partial=True)
    def update(self, request: Request, method_id: int) -> Response:
        changes = self.valid(shapes.MethodInput, partial=True)
        method = operations.update_method(method_id=method_id, changes=changes, now=timezone.now())
        return Response({"method": _shape_method(method)})

    @answers(None, status=204)
    def destroy(self, request: Request, method_id: int) -> Response:
        operations.delete_method(method_id=method_id, now=timezone.now())
        return Response(status=204)


class RatesViewSet(AdminViewSet):
    area = "shipping"

    @answers(many("rates", shapes.RateOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request, method_id: int) -> Response:
        return Response(newest_first(queries.rates_of(method_id), self.cursor).answer("rates", _shape_rate))

    @answers(one("rate", shapes.RateOutput), request=shapes.RateInput, status=201)
    def create(self, request: Request, method_id: int) -> Response:
        fields = self.valid(shapes.RateInput)
        rate = operations.create_rate(method_id=method_id, fields=fields, now=timezone.now())
        return Response({"rate": _shape_rate(rate)}, status=201)

    @answers(one("rate", shapes.RateOutput))
    def retrieve(self, request: Request, rate_id: int) -> Response:
        return Response({"rate": _shape_rate(queries.get_rate(rate_id))})

    @answers(one("rate", shapes.RateOutput), request=shapes.RateInput, partial=True)
    def update(self, request: Request, rate_id: int) -> Response:
        changes = self.valid(shapes.RateInput, partial=True)
        rate = operations.update_rate(rate_id=rate_id, changes=changes, now=timezone.now())
        return Response({"rate": _shape_rate(rate)})

    @answers(None, status=204)
    def destroy(self, request: Request, rate_id: int) -> Response:
        operations.delete_rate(rate_id=rate_id, now=timezone.now())
        return Response(status=204)


class QuoteViewSet(AdminViewSet):
    """Quotes shipping for a parcel, without a cart."""

    area = "shipping"
    reading_actions = ("create",)

    @answers(envelope("Quotes", quotes=shapes.QuoteOutput(many=True)), request=shapes.QuoteInput)
    def create(self, request: Request) -> Response:
        fields = self.valid(shapes.QuoteInput)
        queries.require_market(fields.get("market_id"))
        fields["zip"] = fields.get("zip") or ""
        return Response(
            {"quotes": [shapes.shape_quote(option) for option in queries.quote(Parcel(**fields))]}
        )


class PickupPointsViewSet(AdminViewSet):
    """Public reference data of carriers: the same for every account, and readable with any key."""

    binding = "reference"

    @describe_list
    def list(self, request: Request) -> Response:
        filters = self.valid_query(shapes.PickupPointFilters)
        page = queries.list_pickup_points(cursor=self.cursor, **filters)
        return Response(page.answer("pickup_points", shape_pickup_point))


def _shape_zone(zone: ShippingZone) -> dict[str, object]:
    return shapes.ZoneOutput(zone).data


def _shape_method(method: ShippingMethod) -> dict[str, object]:
    return shapes.MethodOutput(method).data


def _shape_rate(rate: ShippingRate) -> dict[str, object]:
    return shapes.RateOutput(rate).data

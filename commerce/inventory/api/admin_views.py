from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.inventory import operations, queries
from commerce.inventory.models import InventoryLevel, Location
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, OpenApiParameter, answers, many, one
from commerce.rest.views import AdminViewSet

from . import serializers as shapes


class LocationsViewSet(AdminViewSet):
    area = "inventory"

    @answers(many("locations", shapes.LocationOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        return Response(newest_first(queries.locations(), self.cursor).answer("locations", _shape_location))

    @answers(one("location", shapes.LocationOutput), request=shapes.LocationInput, status=201)
    def create(self, request: Request) -> Response:
        location = operations.create_location(fields=self.valid(shapes.LocationInput))
        return Response({"location": _shape_location(location)}, status=201)

    @answers(one("location", shapes.LocationOutput))
    def retrieve(self, request: Request, location_id: int) -> Response:
        return Response({"location": _shape_location(queries.get_location(location_id))})

    @answers(one("location", shapes.LocationOutput), request=shapes.LocationInput, partial=True)
    def update(self, request: Request, location_id: int) -> Response:
        location = queries.get_location(location_id)
        changes = self.valid(shapes.LocationInput, partial=True)
        return Response(
            {"location": _shape_location(operations.update_location(location=location, changes=changes))}
        )


class InventoryLevelsViewSet(AdminViewSet):
    area = "inventory"

    @answers(
        many("inventory_levels", shapes.LevelOutput),
        parameters=[
            *PAGE_PARAMETERS,
            OpenApiParameter("variant_id", int),
            OpenApiParameter("location_id", int),
        ],
    )
    def list(self, request: Request) -> Response:
        levels = queries.levels(**self.valid_query(shapes.LevelFilter))
        return Response(newest_first(levels, self.cursor).answer("inventory_levels", _shape_level))

    @answers(one("inventory_level", shapes.LevelOutput), request=shapes.AdjustmentInput)
    def adjust(self, request: Request) -> Response:
        level = operations.adjust_level(**self.valid(shapes.AdjustmentInput), now=timezone.now())
        return Response({"inventory_level": _shape_level(level)})


def _shape_location(location: Location) -> dict[str, object]:
    return shapes.LocationOutput(location).data


def _shape_level(level: InventoryLevel) -> dict[str, object]:
    return shapes.LevelOutput(level).data

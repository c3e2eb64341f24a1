from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.catalog.api.admin_views import VariantsViewSet
from commerce.inventory import operations, queries
from commerce.inventory.errors import LocationHandleTaken, StockBelowCommitted
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, also_refuses, answers, many, one
from commerce.rest.views import AdminViewSet

from . import serializers as shapes

# An oversold variant must keep allowing that.
also_refuses(VariantsViewSet.update, StockBelowCommitted)


class LocationsViewSet(AdminViewSet):
    """Places where stock is kept. Checkouts take from the active location of the highest priority."""

    area = "inventory"

    @answers(many("locations", shapes.LocationOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        """List locations.

        Newest first, including inactive ones.
        """
        return Response(
            newest_first(queries.locations(), self.cursor).answer("locations", shapes.LocationOutput.of)
        )

    @answers(
        one("location", shapes.LocationOutput),
        request=shapes.LocationInput,
        status=201,
        refuses=(LocationHandleTaken,),
    )
    def create(self, request: Request) -> Response:
        """Add a location.

        It has no stock yet. Of two active locations, the one with the lower `priority` comes first.
        """
        location = operations.create_location(fields=self.valid(shapes.LocationInput))
        return Response({"location": shapes.LocationOutput.of(location)}, status=201)

    @answers(one("location", shapes.LocationOutput))
    def retrieve(self, request: Request, location_id: int) -> Response:
        """Show a location.

        Its stock is listed by `inventory_levels.json`.
        """
        return Response({"location": shapes.LocationOutput.of(queries.get_location(location_id))})

    @answers(
        one("location", shapes.LocationOutput),
        request=shapes.LocationInput,
        partial=True,
        refuses=(LocationHandleTaken,),
    )
    def update(self, request: Request, location_id: int) -> Response:
        """Change a location.

        Only the fields that are sent change. Open checkouts keep the stock that they hold there.
        """
        queries.get_location(location_id)
        changes = self.valid(shapes.LocationInput, partial=True)
        location = operations.update_location(location_id=location_id, changes=changes)
        return Response({"location": shapes.LocationOutput.of(location)})


class InventoryLevelsViewSet(AdminViewSet):
    """Stock of a variant at a location: what is there, what checkouts reserve, and what orders wait for."""

    area = "inventory"

    @answers(
        many("inventory_levels", shapes.LevelOutput),
        parameters=[*PAGE_PARAMETERS, shapes.LevelFilter],
    )
    def list(self, request: Request) -> Response:
        """List stock levels.

        By variant, by location, or all. Newest first.
        """
        levels = queries.levels(**self.valid_query(shapes.LevelFilter))
        return Response(newest_first(levels, self.cursor).answer("inventory_levels", shapes.LevelOutput.of))

    @answers(
        one("inventory_level", shapes.LevelOutput),
        request=shapes.AdjustmentInput,
        refuses=(StockBelowCommitted,),
    )
    def adjust(self, request: Request) -> Response:
        """Add or take away stock.

        `delta` is added to what is on hand, so that two people who count at once don't overwrite each other. Stock
        that is reserved or committed can't be taken away.
        """
        level = operations.adjust_level(**self.valid(shapes.AdjustmentInput), now=timezone.now())
        return Response({"inventory_level": shapes.LevelOutput.of(level)})

from rest_framework.request import Request
from rest_framework.response import Response

from commerce.rest.views import StorefrontViewSet
from shipping import queries

from .pickup_points import describe_list, shape_pickup_point
from .serializers import PickupPointFilters


class StorefrontPickupPointsViewSet(StorefrontViewSet):
    """Pickup points for shoppers."""

    @describe_list
    def list(self, request: Request) -> Response:
        filters = self.valid_query(PickupPointFilters)
        page = queries.list_pickup_points(cursor=self.cursor, **filters)
        return Response(page.answer("pickup_points", shape_pickup_point))

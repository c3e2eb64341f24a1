from rest_framework.request import Request
from rest_framework.response import Response

from commerce.rest.views import StorefrontViewSet
from shipping import queries

from .pickup_points import describe_list, shape_pickup_point
from .serializers import PickupPointFilters


class StorefrontPickupPointsViewSet(StorefrontViewSet):
    """Pickup points of carriers, for shoppers."""

    @describe_list
    def list(self, request: Request) -> Response:
        """List pickup points of carriers.

        For shoppers to choose from. Newest first.
        """
        filters = self.valid_query(PickupPointFilters)
        page = queries.list_pickup_points(cursor=self.cursor, **filters)
        return Response(page.answer("pickup_points", shape_pickup_point))

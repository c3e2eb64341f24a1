from rest_framework.request import Request
from rest_framework.response import Response

from accounts import queries
from accounts.models import Market
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many
from commerce.rest.views import StorefrontViewSet

from .serializers import MarketOutput


class StorefrontMarketsViewSet(StorefrontViewSet):
    """The markets in which the shop sells."""

    @answers(many("markets", MarketOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        """List the markets that are open.

        For a switch of country or currency. A cart needs the id of one.
        """
        markets = queries.markets().filter(status=Market.Status.ACTIVE)
        page = newest_first(markets, self.cursor)
        return Response(page.answer("markets", MarketOutput.of))

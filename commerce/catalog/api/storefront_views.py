from rest_framework.request import Request
from rest_framework.response import Response

from commerce.catalog import queries
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import StorefrontViewSet

from . import serializers
from .shapes import shape_offered_product


class StorefrontProductsViewSet(StorefrontViewSet):
    """The products that the shop offers: active ones, with their live variants and prices."""

    @answers(
        many("products", serializers.OfferedProductOutput),
        parameters=[*PAGE_PARAMETERS, serializers.OffersFilter],
    )
    def list(self, request: Request) -> Response:
        """List the products on offer.

        With `market_id`, only the prices of that market. Newest first.
        """
        wanted = self.valid_query(serializers.OffersFilter)
        size = queries.bytes_of_variants(market_id=wanted.get("market_id"))
        page = newest_first(queries.offered_products(**wanted), self.cursor, related_bytes=size)
        return Response(page.answer("products", shape_offered_product))

    @answers(one("product", serializers.OfferedProductOutput), parameters=[serializers.OfferFilter])
    def retrieve(self, request: Request, product_id: int) -> Response:
        """Show a product on offer.

        With `market_id`, only the prices of that market. A draft or archived product is not found.
        """
        product = queries.get_offered_product(product_id, **self.valid_query(serializers.OfferFilter))
        return Response({"product": shape_offered_product(product)})

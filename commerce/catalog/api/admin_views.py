from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.catalog import operations, queries
from commerce.catalog.errors import ProductArchived, ProductHandleTaken, SkuTaken, TooManyVariants
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet

from . import serializers
from .shapes import shape_pricing, shape_product, shape_variant


class ProductsViewSet(AdminViewSet):
    """Products and their variants, which are what is sold. A variant has one price in each market."""

    area = "products"

    @answers(
        many("products", serializers.ProductOutput),
        parameters=[*PAGE_PARAMETERS, serializers.ProductFilter],
    )
    def list(self, request: Request) -> Response:
        """List products.

        With their variants and prices, also drafts and archived ones. Newest first.
        """
        products = queries.products(**self.valid_query(serializers.ProductFilter))
        page = newest_first(products, self.cursor, related_bytes=queries.bytes_of_variants())
        return Response(page.answer("products", shape_product))

    @answers(
        one("product", serializers.ProductOutput),
        request=serializers.ProductInput,
        status=201,
        refuses=(ProductHandleTaken, SkuTaken, TooManyVariants),
    )
    def create(self, request: Request) -> Response:
        """Add a product.

        With any number of variants and prices, or without, to be added later. An active product is offered in each
        market in which a variant has a price.
        """
        fields = self.valid(serializers.ProductInput)
        product = operations.create_product(variants=fields.pop("variants", []), fields=fields)
        return self._answer(product.pk, status=201)

    @answers(one("product", serializers.ProductOutput))
    def retrieve(self, request: Request, product_id: int) -> Response:
        """Show a product.

        With all of its variants and prices, also archived variants.
        """
        return self._answer(product_id)

    @answers(
        one("product", serializers.ProductOutput),
        request=serializers.ProductChanges,
        partial=True,
        refuses=(ProductHandleTaken, SkuTaken),
    )
    def update(self, request: Request, product_id: int) -> Response:
        """Change a product.

        Only the fields that are sent change. Its variants are changed by their own operations, except that `status` also
        archives and restores them.
        """
        queries.get_product(product_id)
        changes = self.valid(serializers.ProductChanges, partial=True)
        operations.update_product(product_id=product_id, changes=changes, now=timezone.now())
        return self._answer(product_id)

    @answers(one("product", serializers.ProductOutput))
    def destroy(self, request: Request, product_id: int) -> Response:
        """Archive a product.

        It and its variants are no longer offered. Carts and orders keep what they hold. Repeated, nothing changes.
        """
        operations.archive_product(product_id=product_id, now=timezone.now())
        return self._answer(product_id)

    def _answer(self, product_id: int, *, status: int = 200) -> Response:
        return Response(
            {"product": shape_product(queries.get_product_with_variants(product_id))}, status=status
        )


class ProductVariantsViewSet(AdminViewSet):
    area = "products"

    @answers(many("variants", serializers.VariantOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request, product_id: int) -> Response:
        """List a product's variants.

        With their prices. Newest first.
        """
        variants = queries.variants_of(queries.get_product(product_id))
        page = newest_first(variants, self.cursor, related_bytes=queries.bytes_of_pricing())
        return Response(page.answer("variants", shape_variant))

    @answers(
        one("variant", serializers.VariantOutput),
        request=serializers.VariantInput,
        status=201,
        refuses=(SkuTaken, ProductArchived, TooManyVariants),
    )
    def create(self, request: Request, product_id: int) -> Response:
        """Add a variant to a product.

        With prices for some markets, or without. It has no stock yet. An archived product takes no variants.
        """
        queries.get_product(product_id)
        fields = self.valid(serializers.VariantInput)
        variant = operations.add_variant(product_id=product_id, fields=fields)
        answer = shape_variant(queries.get_variant_with_pricing(variant.pk))
        return Response({"variant": answer}, status=201)


class VariantsViewSet(AdminViewSet):
    """A variant of a product: what has a SKU, a weight, a tax class, stock, and prices."""

    area = "products"

    @answers(one("variant", serializers.VariantOutput))
    def retrieve(self, request: Request, variant_id: int) -> Response:
        """Show a variant.

        With its prices in all markets, also when it is archived.
        """
        return self._answer(variant_id)

    @answers(
        one("variant", serializers.VariantOutput),
        request=serializers.VariantChanges,
        partial=True,
        refuses=(SkuTaken,),
    )
    def update(self, request: Request, variant_id: int) -> Response:
        """Change a variant.

        Only the fields that are sent change. Carts keep their prices until a line is changed; checkouts and orders
        keep theirs.
        """
        queries.get_variant(variant_id)
        changes = self.valid(serializers.VariantChanges, partial=True)
        operations.update_variant(variant_id=variant_id, changes=changes, now=timezone.now())
        return self._answer(variant_id)

    @answers(one("variant", serializers.VariantOutput))
    def destroy(self, request: Request, variant_id: int) -> Response:
        """Archive a variant.

        It is no longer offered. Carts and orders keep what they hold. Repeated, nothing changes.
        """
        operations.archive_variant(variant_id=variant_id, now=timezone.now())
        return self._answer(variant_id)

    def _answer(self, variant_id: int) -> Response:
        return Response({"variant": shape_variant(queries.get_variant_with_pricing(variant_id))})


class VariantPricingViewSet(AdminViewSet):
    area = "products"

    @answers(one("variant_pricing", serializers.VariantPricingOutput))
    def retrieve(self, request: Request, variant_id: int, market_id: int) -> Response:
        """Show a variant's price in a market.

        Not found if the variant has no price there.
        """
        pricing = queries.get_pricing(variant_id=variant_id, market_id=market_id)
        return Response({"variant_pricing": shape_pricing(pricing)})

    @answers(one("variant_pricing", serializers.VariantPricingOutput), request=serializers.PricingInput)
    def update(self, request: Request, variant_id: int, market_id: int) -> Response:
        """Set a variant's price in a market.

        The currency is the market's unless another is given; the variant then can't be added to carts of this market.
        Lines that are in carts keep their price until they change.
        """
        queries.get_variant(variant_id)
        fields = self.valid(serializers.PricingInput) | {"market_id": market_id}
        pricing = operations.set_pricing(variant_id=variant_id, fields=fields)
        return Response({"variant_pricing": shape_pricing(pricing)})

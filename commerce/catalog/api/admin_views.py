from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.catalog import operations, queries
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, OpenApiParameter, answers, many, one
from commerce.rest.views import AdminViewSet

from . import serializers
from .shapes import shape_pricing, shape_product, shape_variant


class ProductsViewSet(AdminViewSet):
    area = "products"

    @answers(
        many("products", serializers.ProductOutput),
        parameters=[*PAGE_PARAMETERS, OpenApiParameter("status", str), OpenApiParameter("handle", str)],
    )
    def list(self, request: Request) -> Response:
        products = queries.products(**self.valid_query(serializers.ProductFilter))
        page = newest_first(products, self.cursor, related_bytes=queries.bytes_of_variants())
        return Response(page.answer("products", shape_product))

    @answers(one("product", serializers.ProductOutput), request=serializers.ProductInput, status=201)
    def create(self, request: Request) -> Response:
        fields = self.valid(serializers.ProductInput)
        product = operations.create_product(variants=fields.pop("variants", []), fields=fields)
        return self._answer(product.pk, status=201)

    @answers(one("product", serializers.ProductOutput))
    def retrieve(self, request: Request, product_id: int) -> Response:
        return self._answer(product_id)

    @answers(one("product", serializers.ProductOutput), request=serializers.ProductChanges, partial=True)
    def update(self, request: Request, product_id: int) -> Response:
        product = queries.get_product(product_id)
        changes = self.valid(serializers.ProductChanges, partial=True)
        operations.update_product(product=product, changes=changes, now=timezone.now())
        return self._answer(product_id)

    @answers(one("product", serializers.ProductOutput))
    def destroy(self, request: Request, product_id: int) -> Response:
        operations.archive_product(product=queries.get_product(product_id), now=timezone.now())
        return self._answer(product_id)

    def _answer(self, product_id: int, *, status: int = 200) -> Response:
        return Response(
            {"product": shape_product(queries.get_product_with_variants(product_id))}, status=status
        )


class ProductVariantsViewSet(AdminViewSet):
    area = "products"

    @answers(many("variants", serializers.VariantOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request, product_id: int) -> Response:
        variants = queries.variants_of(queries.get_product(product_id))
        page = newest_first(variants, self.cursor, related_bytes=queries.bytes_of_pricing())
        return Response(page.answer("variants", shape_variant))

    @answers(one("variant", serializers.VariantOutput), request=serializers.VariantInput, status=201)
    def create(self, request: Request, product_id: int) -> Response:
        product = queries.get_product(product_id)
        variant = operations.add_variant(product=product, fields=self.valid(serializers.VariantInput))
        answer = shape_variant(queries.get_variant_with_pricing(variant.pk))
        return Response({"variant": answer}, status=201)


class VariantsViewSet(AdminViewSet):
    area = "products"

    @answers(one("variant", serializers.VariantOutput))
    def retrieve(self, request: Request, variant_id: int) -> Response:
        return self._answer(variant_id)

    @answers(one("variant", serializers.VariantOutput), request=serializers.VariantChanges, partial=True)
    def update(self, request: Request, variant_id: int) -> Response:
        variant = queries.get_variant(variant_id)
        changes = self.valid(serializers.VariantChanges, partial=True)
        operations.update_variant(variant=variant, changes=changes, now=timezone.now())
        return self._answer(variant_id)

    @answers(one("variant", serializers.VariantOutput))
    def destroy(self, request: Request, variant_id: int) -> Response:
        operations.archive_variant(variant=queries.get_variant(variant_id), now=timezone.now())
        return self._answer(variant_id)

    def _answer(self, variant_id: int) -> Response:
        return Response({"variant": shape_variant(queries.get_variant_with_pricing(variant_id))})


class VariantPricingViewSet(AdminViewSet):
    area = "products"

    @answers(one("variant_pricing", serializers.VariantPricingOutput))
    def retrieve(self, request: Request, variant_id: int, market_id: int) -> Response:
        pricing = queries.get_pricing(variant_id=variant_id, market_id=market_id)
        return Response({"variant_pricing": shape_pricing(pricing)})

    @answers(one("variant_pricing", serializers.VariantPricingOutput), request=serializers.PricingInput)
    def update(self, request: Request, variant_id: int, market_id: int) -> Response:
        variant = queries.get_variant(variant_id)
        fields = self.valid(serializers.PricingInput) | {"market_id": market_id}
        pricing = operations.set_pricing(variant=variant, fields=fields)
        return Response({"variant_pricing": shape_pricing(pricing)})

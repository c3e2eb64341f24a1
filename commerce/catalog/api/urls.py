from django.urls import path

from .admin_views import ProductsViewSet, ProductVariantsViewSet, VariantPricingViewSet, VariantsViewSet
from .storefront_views import StorefrontProductsViewSet

admin = [
    path("<handle:handle>/products.json", ProductsViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "<handle:handle>/products/<id:product_id>.json",
        ProductsViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(
        "<handle:handle>/products/<id:product_id>/variants.json",
        ProductVariantsViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        "<handle:handle>/variants/<id:variant_id>.json",
        VariantsViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(
        "<handle:handle>/variants/<id:variant_id>/pricing/<id:market_id>.json",
        VariantPricingViewSet.as_view({"get": "retrieve", "put": "update"}),
    ),
]

storefront = [
    path("products.json", StorefrontProductsViewSet.as_view({"get": "list"})),
    path("products/<id:product_id>.json", StorefrontProductsViewSet.as_view({"get": "retrieve"})),
]

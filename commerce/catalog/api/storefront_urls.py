from django.urls import path

from .storefront_views import StorefrontProductsViewSet

urlpatterns = [
    path("products.json", StorefrontProductsViewSet.as_view({"get": "list"})),
    path("products/<id:product_id>.json", StorefrontProductsViewSet.as_view({"get": "retrieve"})),
]

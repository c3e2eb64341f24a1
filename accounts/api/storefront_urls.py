from django.urls import path

from .storefront_views import StorefrontMarketsViewSet

urlpatterns = [path("markets.json", StorefrontMarketsViewSet.as_view({"get": "list"}))]

from django.urls import path

from .storefront_views import StorefrontPickupPointsViewSet

urlpatterns = [path("pickup-points.json", StorefrontPickupPointsViewSet.as_view({"get": "list"}))]

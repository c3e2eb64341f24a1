from django.urls import path

from .admin_views import MethodsViewSet, PickupPointsViewSet, QuoteViewSet, RatesViewSet, ZonesViewSet
from .storefront_views import StorefrontPickupPointsViewSet

admin = [
    path("shipping/pickup-points.json", PickupPointsViewSet.as_view({"get": "list"})),
    path("<handle:handle>/shipping/quote.json", QuoteViewSet.as_view({"post": "create"})),
    path("<handle:handle>/shipping/zones.json", ZonesViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "<handle:handle>/shipping/zones/<id:zone_id>.json",
        ZonesViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("<handle:handle>/shipping/methods.json", MethodsViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "<handle:handle>/shipping/methods/<id:method_id>.json",
        MethodsViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(
        "<handle:handle>/shipping/methods/<id:method_id>/rates.json",
        RatesViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        "<handle:handle>/shipping/rates/<id:rate_id>.json",
        RatesViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
]

storefront = [
    path("pickup-points.json", StorefrontPickupPointsViewSet.as_view({"get": "list"})),
]

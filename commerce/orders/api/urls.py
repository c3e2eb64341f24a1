from django.urls import path

from .admin_views import OrdersViewSet
from .storefront_views import StorefrontOrdersViewSet

admin = [
    path("<handle:handle>/orders.json", OrdersViewSet.as_view({"get": "list"})),
    path("<handle:handle>/orders/<id:order_id>.json", OrdersViewSet.as_view({"get": "retrieve"})),
    path("<handle:handle>/orders/<id:order_id>/cancel.json", OrdersViewSet.as_view({"post": "cancel"})),
    path("<handle:handle>/orders/<id:order_id>/mark_paid.json", OrdersViewSet.as_view({"post": "mark_paid"})),
    path("<handle:handle>/orders/<id:order_id>/fulfill.json", OrdersViewSet.as_view({"post": "fulfill"})),
]

storefront = [
    path("orders/<token:token>.json", StorefrontOrdersViewSet.as_view({"get": "retrieve"})),
]

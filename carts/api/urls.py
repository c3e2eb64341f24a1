from django.urls import path

from .storefront_views import CartLinesViewSet, CartsViewSet

storefront = [
    path("carts.json", CartsViewSet.as_view({"post": "create"})),
    path("carts/<token:token>.json", CartsViewSet.as_view({"get": "retrieve"})),
    path("carts/<token:token>/customer.json", CartsViewSet.as_view({"put": "set_customer"})),
    path("carts/<token:token>/merge.json", CartsViewSet.as_view({"post": "merge"})),
    path("carts/<token:token>/lines.json", CartLinesViewSet.as_view({"post": "create"})),
    path(
        "carts/<token:token>/lines/<id:line_id>.json",
        CartLinesViewSet.as_view({"patch": "partial_update", "delete": "destroy"}),
    ),
]

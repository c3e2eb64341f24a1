from django.urls import path

from .discount_views import DiscountRedemptionsViewSet, DiscountsViewSet

urlpatterns = [
    path("<handle:handle>/discounts.json", DiscountsViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "<handle:handle>/discounts/<id:discount_id>.json",
        DiscountsViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(
        "<handle:handle>/discount_redemptions.json",
        DiscountRedemptionsViewSet.as_view({"get": "list"}),
    ),
]

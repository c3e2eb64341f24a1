from django.urls import path

from .discount_views import DiscountRedemptionsViewSet, DiscountsViewSet
from .vouchers_views import VoucherRedemptionsViewSet, VouchersViewSet

admin = [
    path("<handle:handle>/discounts.json", DiscountsViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "<handle:handle>/discounts/<id:discount_id>.json",
        DiscountsViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(
        "<handle:handle>/discount_redemptions.json",
        DiscountRedemptionsViewSet.as_view({"get": "list"}),
    ),
    path("<handle:handle>/vouchers.json", VouchersViewSet.as_view({"get": "list", "post": "create"})),
    path("<handle:handle>/vouchers/redeem.json", VouchersViewSet.as_view({"post": "redeem"})),
    path(
        "<handle:handle>/vouchers/<id:voucher_id>.json",
        VouchersViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
    ),
    path("<handle:handle>/vouchers/<id:voucher_id>/revoke.json", VouchersViewSet.as_view({"post": "revoke"})),
    path("<handle:handle>/voucher_redemptions.json", VoucherRedemptionsViewSet.as_view({"get": "list"})),
]

from django.urls import path

from .vouchers_views import VoucherRedemptionsViewSet, VouchersViewSet

urlpatterns = [
    path("<handle:handle>/vouchers.json", VouchersViewSet.as_view({"get": "list", "post": "create"})),
    path("<handle:handle>/vouchers/redeem.json", VouchersViewSet.as_view({"post": "redeem"})),
    path(
        "<handle:handle>/vouchers/<id:voucher_id>.json",
        VouchersViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
    ),
    path("<handle:handle>/vouchers/<id:voucher_id>/revoke.json", VouchersViewSet.as_view({"post": "revoke"})),
    path("<handle:handle>/voucher_redemptions.json", VoucherRedemptionsViewSet.as_view({"get": "list"})),
]

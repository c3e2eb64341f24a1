from django.urls import path

from .admin_views import AccountsViewSet, ApiKeysViewSet, MarketsViewSet
from .storefront_views import StorefrontMarketsViewSet

admin = [
    path("accounts.json", AccountsViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "accounts/<handle:id_or_handle>.json",
        AccountsViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("<handle:handle>/markets.json", MarketsViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "<handle:handle>/markets/<id:market_id>.json",
        MarketsViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("<handle:handle>/api_keys.json", ApiKeysViewSet.as_view({"get": "list", "post": "create"})),
    path("<handle:handle>/api_keys/<id:key_id>.json", ApiKeysViewSet.as_view({"delete": "destroy"})),
    path("<handle:handle>/api_keys/<id:key_id>/rotate.json", ApiKeysViewSet.as_view({"post": "rotate"})),
]

storefront = [
    path("markets.json", StorefrontMarketsViewSet.as_view({"get": "list"})),
]

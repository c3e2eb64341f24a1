from django.urls import path

from .admin_views import InventoryLevelsViewSet, LocationsViewSet

admin = [
    path("<handle:handle>/locations.json", LocationsViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "<handle:handle>/locations/<id:location_id>.json",
        LocationsViewSet.as_view({"get": "retrieve", "put": "update"}),
    ),
    path("<handle:handle>/inventory_levels.json", InventoryLevelsViewSet.as_view({"get": "list"})),
    path("<handle:handle>/inventory_levels/adjust.json", InventoryLevelsViewSet.as_view({"post": "adjust"})),
]

from django.urls import path

from .views import SuppliersViewSet

admin = [
    path("<handle:handle>/suppliers.json", SuppliersViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "<handle:handle>/suppliers/<id:supplier_id>.json",
        SuppliersViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
]

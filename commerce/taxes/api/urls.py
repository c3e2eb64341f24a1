from django.urls import path

from .admin_views import TaxRatesViewSet

admin = [
    path("<handle:handle>/tax_rates.json", TaxRatesViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "<handle:handle>/tax_rates/<id:tax_rate_id>.json",
        TaxRatesViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
]

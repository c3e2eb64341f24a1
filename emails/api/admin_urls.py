from django.urls import path

from .admin_views import DeliveriesViewSet

urlpatterns = [
    path("<handle:handle>/email/deliveries.json", DeliveriesViewSet.as_view({"get": "list"})),
    path(
        "<handle:handle>/email/deliveries/<id:delivery_id>.json",
        DeliveriesViewSet.as_view({"get": "retrieve"}),
    ),
]

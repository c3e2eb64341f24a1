from django.urls import path

from .admin_views import EndpointsViewSet

_ENDPOINT = "<handle:handle>/webhook_endpoints/<id:webhook_endpoint_id>"


admin = [
    path(
        "<handle:handle>/webhook_endpoints.json",
        EndpointsViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        f"{_ENDPOINT}.json",
        EndpointsViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(f"{_ENDPOINT}/rotate_secret.json", EndpointsViewSet.as_view({"post": "rotate_secret"})),
    path(f"{_ENDPOINT}/ping.json", EndpointsViewSet.as_view({"post": "ping"})),
    path(f"{_ENDPOINT}/deliveries.json", EndpointsViewSet.as_view({"get": "deliveries"})),
]

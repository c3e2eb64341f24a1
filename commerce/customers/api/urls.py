from django.urls import path

from .admin_views import CustomersViewSet, NotificationPreferencesViewSet, SegmentsViewSet

admin = [
    path("<handle:handle>/customers.json", CustomersViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "<handle:handle>/customers/<id:customer_id>.json",
        CustomersViewSet.as_view({"get": "retrieve", "put": "update"}),
    ),
    path(
        "<handle:handle>/customers/<id:customer_id>/redact.json",
        CustomersViewSet.as_view({"post": "redact"}),
    ),
    path(
        "<handle:handle>/customers/<id:customer_id>/notification_preferences.json",
        NotificationPreferencesViewSet.as_view({"get": "retrieve", "put": "update"}),
    ),
    path("<handle:handle>/segments.json", SegmentsViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "<handle:handle>/segments/<id:segment_id>.json",
        SegmentsViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
]

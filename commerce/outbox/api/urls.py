from django.urls import path

from .admin_views import DispatchesViewSet

admin = [
    path("<handle:handle>/outbox_dispatches.json", DispatchesViewSet.as_view({"get": "list"})),
    path(
        "<handle:handle>/outbox_dispatches/<id:dispatch_id>.json",
        DispatchesViewSet.as_view({"get": "retrieve"}),
    ),
    path(
        "<handle:handle>/outbox_dispatches/<id:dispatch_id>/retry.json",
        DispatchesViewSet.as_view({"post": "retry"}),
    ),
    path(
        "<handle:handle>/outbox_dispatches/<id:dispatch_id>/cancel.json",
        DispatchesViewSet.as_view({"post": "cancel"}),
    ),
]

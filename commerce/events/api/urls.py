from django.urls import path

from .admin_views import EventsViewSet

admin = [
    path("<handle:handle>/events.json", EventsViewSet.as_view({"get": "list"})),
]

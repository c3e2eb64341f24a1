from django.urls import path

from .admin_views import SettingsViewSet

admin = [
    path("<handle:handle>/settings.json", SettingsViewSet.as_view({"get": "list", "put": "update"})),
]

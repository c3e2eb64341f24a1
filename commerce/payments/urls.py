from django.urls import include, path

from .connectors import load_connectors

urlpatterns = [
    path("", include(connector.urls)) for connector in load_connectors().values() if connector.urls
]

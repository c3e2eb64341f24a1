from django.urls import include, path

from .connectors import all_connectors

urlpatterns = [path("", include(connector.urls)) for connector in all_connectors().values() if connector.urls]

from django.urls import path

from .template_views import EmailTemplatesViewSet, EmailTemplateVersionsViewSet

_TEMPLATE = "templates/<str:template_key>/<locale:locale>"

urlpatterns = [
    path("templates.json", EmailTemplatesViewSet.as_view({"get": "list"})),
    path(
        f"{_TEMPLATE}.json",
        EmailTemplatesViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(f"{_TEMPLATE}/preview.json", EmailTemplatesViewSet.as_view({"post": "preview"})),
    path(f"{_TEMPLATE}/test_send.json", EmailTemplatesViewSet.as_view({"post": "test_send"})),
    path(f"{_TEMPLATE}/versions.json", EmailTemplateVersionsViewSet.as_view({"get": "list"})),
    path(
        f"{_TEMPLATE}/versions/<id:version_id>.json",
        EmailTemplateVersionsViewSet.as_view({"get": "retrieve"}),
    ),
    path(
        f"{_TEMPLATE}/versions/<id:version_id>/restore.json",
        EmailTemplateVersionsViewSet.as_view({"post": "restore"}),
    ),
]

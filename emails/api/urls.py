from django.urls import path

from .admin_views import DeliveriesViewSet, SendViewSet
from .sender_domain_views import SenderDomainViewSet
from .template_views import EmailTemplatesViewSet, EmailTemplateVersionsViewSet

_TEMPLATE = "<handle:handle>/email/templates/<str:template_key>/<locale:locale>"

admin = [
    path(
        "accounts/<handle:id_or_handle>/sender_domain.json",
        SenderDomainViewSet.as_view({"get": "retrieve"}),
    ),
    path(
        "accounts/<handle:id_or_handle>/sender_domain/verify.json",
        SenderDomainViewSet.as_view({"post": "verify"}),
    ),
    path("<handle:handle>/email/send.json", SendViewSet.as_view({"post": "send"})),
    path("<handle:handle>/email/templates.json", EmailTemplatesViewSet.as_view({"get": "list"})),
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
    path("<handle:handle>/email/deliveries.json", DeliveriesViewSet.as_view({"get": "list"})),
    path(
        "<handle:handle>/email/deliveries/<id:delivery_id>.json",
        DeliveriesViewSet.as_view({"get": "retrieve"}),
    ),
]

from django.urls import include, path

from .admin_views import DeliveriesViewSet, SendViewSet
from .sender_domain_views import SenderDomainViewSet

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
    path("<handle:handle>/email/", include("emails.api.template_urls")),
    path("<handle:handle>/email/deliveries.json", DeliveriesViewSet.as_view({"get": "list"})),
    path(
        "<handle:handle>/email/deliveries/<id:delivery_id>.json",
        DeliveriesViewSet.as_view({"get": "retrieve"}),
    ),
]

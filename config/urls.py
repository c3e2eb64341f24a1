"""Every address of the installation. The version of the API stands here and nowhere below."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerView

from commerce.rest import converters

converters.register()

from config import views  # noqa: E402  its URLs use the converters

_ADMIN_APPS = [
    "accounts",
    "commerce.configuration",
    "commerce.events",
    "commerce.outbox",
    "commerce.catalog",
    "commerce.customers",
    "commerce.taxes",
    "commerce.inventory",
    "commerce.orders",
    "shipping",
    "discounts",
    "emails",
]
_STOREFRONT_APPS = ["accounts", "commerce.catalog", "shipping", "carts", "checkouts", "commerce.orders"]

urlpatterns = [
    path(
        f"admin/{settings.API_VERSION}/",
        include([path("", include(f"{app}.api.admin_urls")) for app in _ADMIN_APPS]),
    ),
    path(
        f"storefront/{settings.API_VERSION}/",
        include([path("", include(f"{app}.api.storefront_urls")) for app in _STOREFRONT_APPS]),
    ),
    path("admin/", RedirectView.as_view(url="/backoffice/")),
    re_path(r"^(?:admin|storefront)/(?P<version>[^/]+)/.*$", views.unsupported_version),
    path("backoffice", RedirectView.as_view(url="/backoffice/")),
    path("backoffice/", admin.site.urls),
    path("docs/", SpectacularSwaggerView.as_view(url="/openapi.json"), name="docs"),
    path("openapi.json", views.openapi),
    path("healthz", views.healthz),
    path("readyz", views.readyz),
    path("", RedirectView.as_view(url="/docs/")),
]

handler400 = "config.views.bad_request"
handler403 = "config.views.forbidden"
handler404 = "config.views.not_found"
handler500 = "config.views.server_error"

"""Every URL of the installation."""

from collections.abc import Sequence
from importlib import import_module

from django.conf import settings
from django.contrib import admin
from django.urls import URLResolver, include, path, re_path
from django.views.generic import RedirectView

from commerce.rest import converters
from commerce.versions import api_versions

converters.register()

from accounts.backoffice import passkeys  # noqa: E402
from config import health, metrics, views  # noqa: E402  its URLs use the converters
from emails.api.webhook import provider_webhook  # noqa: E402


def _make_surface(name: str, apps: Sequence[str], version: str) -> URLResolver:
    """Collect the routes of one surface in one flat list: each nested `include` would slow down every look-up."""
    modules = [import_module(f"{app}.api.urls") for app in apps]
    routes = [route for module in modules for route in getattr(module, name)]
    return path(f"{name}/{version}/", include(routes))


def make_surfaces() -> list[URLResolver]:
    """Make both surfaces of every version, the newest first. All versions share their views (docs/versioning.md)."""
    return [
        surface
        for version in reversed(api_versions())
        for surface in (
            _make_surface("storefront", settings.STOREFRONT_API_APPS, version),
            _make_surface("admin", settings.ADMIN_API_APPS, version),
        )
    ]


urlpatterns = [
    *make_surfaces(),
    path("webhooks/provider", provider_webhook),
    # Where Django's admin usually is. Paths of the surface go on with a version.
    path("admin/", RedirectView.as_view(url="/backoffice/")),
    # After the surfaces: whatever none of them matches.
    re_path(r"^(?:admin|storefront)/(?P<version>[^/]+)/.*$", views.unsupported_version),
    path("backoffice", RedirectView.as_view(url="/backoffice/")),
    path("backoffice/passkeys/", include((passkeys.list_urls(), "otp_webauthn"))),
    path("backoffice/", admin.site.urls),
    path("", include("commerce.payments.urls")),
    path("demo", RedirectView.as_view(url="/demo/")),
    path("demo/", include("config.demo.urls")),
    path("docs/", views.Docs.as_view(url="/openapi.json"), name="docs"),
    path("openapi.json", views.openapi),
    path("openapi/<str:name>.json", views.openapi),
    # Browsers ask for this on pages that name no icon.
    path("favicon.ico", views.Favicon.as_view()),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics.metrics),
    path("", RedirectView.as_view(url="/docs/")),
]

handler400 = "config.views.bad_request"
handler403 = "config.views.forbidden"
handler404 = "config.views.not_found"
handler500 = "config.views.server_error"

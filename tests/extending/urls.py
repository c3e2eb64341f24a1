"""Every URL of an installation whose settings name one more payment gateway."""

from django.urls import include, path

from config import urls

handler404 = urls.handler404
urlpatterns = [*urls.urlpatterns, path("", include("tests.extending.wallet.urls"))]

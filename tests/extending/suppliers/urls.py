"""The URLs of the installation, with those of the app. Imported once the settings name it."""

from django.contrib import admin
from django.urls import path

from config import urls

urlpatterns = [*urls.make_surfaces(), path("backoffice/", admin.site.urls), *urls.urlpatterns]

handler400 = urls.handler400
handler403 = urls.handler403
handler404 = urls.handler404
handler500 = urls.handler500

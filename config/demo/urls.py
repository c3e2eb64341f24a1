from django.urls import path

from . import views

urlpatterns = [
    path("", views.page),
    path("<handle:handle>/orders/<token:token>/email", views.confirmation_email),
]

from django.urls import path

from . import views

urlpatterns = [
    path("test-card/<token:token>", views.page),
    *(
        path(f"test-card/<token:token>/{choice}", views.choose, {"choice": choice})
        for choice in views.OUTCOMES
    ),
]

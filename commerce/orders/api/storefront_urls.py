from django.urls import path

from .storefront_views import StorefrontOrdersViewSet

urlpatterns = [path("orders/<token:token>.json", StorefrontOrdersViewSet.as_view({"get": "retrieve"}))]

from django.urls import path

from .admin_views import PaymentsViewSet

urlpatterns = [
    path("<handle:handle>/payments.json", PaymentsViewSet.as_view({"get": "list"})),
    path("<handle:handle>/payments/<id:payment_id>.json", PaymentsViewSet.as_view({"get": "retrieve"})),
]

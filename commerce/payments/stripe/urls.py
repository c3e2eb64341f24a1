from django.urls import path

from .webhook import receive

urlpatterns = [path("webhooks/stripe/<id:account_id>", receive)]

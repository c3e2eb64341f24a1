from django.urls import path

from .stripe import webhook
from .test_card import views as test_card

urlpatterns = [
    path("test-card/<token:token>", test_card.page),
    *(
        path(f"test-card/<token:token>/{choice}", test_card.choose, {"choice": choice})
        for choice in test_card.OUTCOMES
    ),
    path("webhooks/stripe/<id:account_id>", webhook.receive),
]

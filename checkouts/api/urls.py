from django.urls import path

from .admin_views import PaymentsViewSet
from .storefront_views import CheckoutsViewSet

_STEPS = {
    "address": "put",
    "shipping_quote": "get",
    "shipping": "put",
    "vat": "put",
    "payment_method": "put",
    "start_payment": "post",
    "confirm": "post",
    "complete": "post",
}


admin = [
    path("<handle:handle>/payments.json", PaymentsViewSet.as_view({"get": "list"})),
    path("<handle:handle>/payments/<id:payment_id>.json", PaymentsViewSet.as_view({"get": "retrieve"})),
]

storefront = [
    path("checkouts.json", CheckoutsViewSet.as_view({"post": "create"})),
    path("checkouts/<token:token>.json", CheckoutsViewSet.as_view({"get": "retrieve"})),
    path("checkouts/<token:token>/discount.json", CheckoutsViewSet.as_view({"post": "apply_code"})),
    path(
        "checkouts/<token:token>/discount/<str:code>.json",
        CheckoutsViewSet.as_view({"delete": "remove_code"}),
    ),
    *(
        path(f"checkouts/<token:token>/{step}.json", CheckoutsViewSet.as_view({method: step}))
        for step, method in _STEPS.items()
    ),
]

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_httpserver import HTTPServer

from checkouts.models import Checkout, CheckoutPaymentAttempt
from commerce.payments.stripe import gateway
from tests import factories
from tests.checkouts.payments.stripedouble import PATIENT_S, StripeDouble
from tests.shops import Shop
from tests.storefront import checkout_in

URLS = {"return_url": "https://shop.example/ok?a=1", "cancel_url": "https://shop.example/no"}


@pytest.fixture
def stripe(httpserver: HTTPServer, settings, monkeypatch) -> StripeDouble:
    """A double that this installation takes for Stripe."""
    double = StripeDouble()
    httpserver.expect_request(re.compile("/v1/.*")).respond_with_handler(double)
    settings.STRIPE_API_BASE = httpserver.url_for("").rstrip("/")
    # These tests aren't about the limit of concurrent calls.
    settings.WEB_CALLS = settings.WEB_CALLS | {"payment": 200}
    # Restored afterwards, because the double changes it on every call.
    monkeypatch.setattr(gateway, "TOTAL_TIMEOUT_S", PATIENT_S)
    gateway._make_http_client.clear()
    yield double
    gateway._make_http_client.clear()


@pytest.fixture
def pay_shop(shop: Shop) -> Shop:
    """A shop that offers the test card and Stripe."""
    settings = {
        "commerce.payments.test_card": True,
        "commerce.payments.stripe_secret_key": "sk_test_secret",
        "commerce.payments.stripe_webhook_secret": "whsec_secret",
    }
    shop.admin.put("settings.json", {"settings": settings})
    return shop


class Till:
    """A checkout whose payment may start."""

    def __init__(self, shop: Shop, payment_method: str, **variant) -> None:
        self.shop = shop
        checkout = checkout_in(
            "payment", shop, (factories.make_variant(shop, **variant), 1), payment_method=payment_method
        )
        self._stand_at(checkout["token"])

    @classmethod
    def of(cls, shop: Shop, token: str) -> "Till":
        """Build the till of a checkout created by a test."""
        till = cls.__new__(cls)
        till.shop = shop
        till._stand_at(token)
        return till

    def _stand_at(self, token: str) -> None:
        self.token, self.path = token, f"checkouts/{token}"

    def start(self, urls=URLS, **headers):
        return self.shop.storefront.post(f"{self.path}/start_payment.json", urls, **headers)

    def confirm(self, payload=None, **headers):
        body = {"callback_payload": payload or {}}
        return self.shop.storefront.post(f"{self.path}/confirm.json", body, **headers)

    def complete(self):
        return self.shop.storefront.post(f"{self.path}/complete.json", {}, idempotency_key=self.token)

    def choose(self, payment_method):
        return self.shop.storefront.put(
            f"{self.path}/payment_method.json", {"payment_method": payment_method}
        )

    @property
    def shown(self):
        return self.shop.storefront.get(f"{self.path}.json").json()["checkout"]

    @property
    def attempts(self) -> list[CheckoutPaymentAttempt]:
        with self.shop.scope():
            return list(CheckoutPaymentAttempt.objects.filter(checkout__token=self.token).order_by("pk"))

    def let_expire(self) -> None:
        with self.shop.scope():
            # Later than any test runs, because the database's clock stands still in its transaction.
            past = timezone.now() - timedelta(hours=1)
            Checkout.objects.filter(token=self.token).update(expires_at=past)


@pytest.fixture
def till(pay_shop: Shop) -> Callable[..., Till]:
    """A factory of checkouts whose payment may start: `till("stripe")`."""
    return lambda payment_method, **variant: Till(pay_shop, payment_method, **variant)

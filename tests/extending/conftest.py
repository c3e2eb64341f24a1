"""The wallet, a gateway outside of the product, and payments by it."""

import re

import orjson
import pytest
from django.test import Client

from tests.checkouts.payments.conftest import Till
from tests.extending.wallet.connector import API_KEY
from tests.extending.wallet.double import WalletDouble
from tests.storefront import EMAIL

CONNECTOR = "tests.extending.wallet.connector.WALLET"
KEY = "key-of-the-wallet"


@pytest.fixture
def wallet(httpserver, settings) -> WalletDouble:
    double = WalletDouble()
    httpserver.expect_request(re.compile("/wallet/.*")).respond_with_handler(double)
    settings.WALLET_URL = httpserver.url_for("/wallet")
    settings.PAYMENT_METHODS = [*settings.PAYMENT_METHODS, CONNECTOR]
    settings.ROOT_URLCONF = "tests.extending.urls"
    return double


@pytest.fixture
def payment(shop, wallet) -> Till:
    assert shop.admin.put("settings.json", {"settings": {API_KEY: KEY}}).status_code == 200
    return Till(shop, "wallet")


def tell(payment: Till, *, key: str = KEY, about: str = "payment"):
    event = {
        "id": "e1",
        "about": about,
        "payment": payment.attempts[-1].provider_reference,
        "attempt_id": payment.attempts[-1].pk,
    }
    return Client(raise_request_exception=False).post(
        f"/webhooks/wallet/{payment.shop.id}",
        orjson.dumps(event),
        content_type="application/json",
        headers={"X-Key": key},
    )


def replace_checkout(payment: Till) -> None:
    body = {"cart_token": payment.shown["cart_token"], "email": EMAIL}
    assert payment.shop.storefront.post("checkouts.json", body).status_code == 201
    assert payment.shown["phase"] == "abandoned"

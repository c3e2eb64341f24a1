"""Every operation in every phase: it works exactly where the table of phases allows it, else changes nothing."""

from datetime import timedelta

import pytest
from django.utils import timezone

from checkouts.models import Checkout
from checkouts.phases import ALLOWED_PHASES, Phase
from tests import factories
from tests.storefront import ADDRESS, checkout_in

STATES = [
    "pending",
    "address",
    "shipping",
    "payment",
    "processing",
    "ready",
    "failed",
    "completed",
    "abandoned",
]
OPERATIONS = list(ALLOWED_PHASES)


def checkout_in_state(shop, state, rate):
    variant = factories.make_variant(shop)
    if state == "failed":
        checkout = checkout_in("processing", shop, (variant, 1), rate=rate)
        with shop.scope():
            Checkout.objects.update(phase=Phase.FAILED, failure_code="card_declined")
    elif state == "abandoned":
        checkout = checkout_in("shipping", shop, (variant, 1), rate=rate)
        with shop.scope():
            Checkout.objects.update(phase=Phase.ABANDONED)
    else:
        checkout = checkout_in(state, shop, (variant, 1), rate=rate)
    return checkout


def send(shop, operation, token, rate):
    bodies = {
        "address": ("PUT", {"shipping_address": ADDRESS, "same_as_shipping": True}),
        "shipping": ("PUT", {"shipping_method_id": rate.method_id, "shipping_rate_id": rate.pk}),
        "discount": ("POST", {"code": "SPRING"}),
        "vat": ("PUT", {"vat_number": ""}),
        "payment_method": ("PUT", {"payment_method": "bank_transfer"}),
        "start_payment": ("POST", {}),
        "confirm": ("POST", {"callback_payload": {}}),
        "complete": ("POST", {}),
    }
    method, body = bodies[operation]
    headers = {"idempotency_key": "another"} if operation == "complete" else {}
    return shop.storefront.send(method, f"checkouts/{token}/{operation}.json", body, **headers)


def expected(state, operation):
    phase = "processing" if state == "ready" else state
    if state == "abandoned":
        return 409, "checkout_expired"
    if operation == "complete" and state == "completed":
        return 409, "checkout_already_completed"
    if phase not in ALLOWED_PHASES[operation]:
        return 409, "invalid_phase"
    if operation == "complete" and state == "processing":
        return 409, "payment_not_confirmed"
    return 200, None


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("state", STATES)
def test_operation_in_phase(shop, state, operation):
    rate = factories.make_rate(shop)
    factories.make_discount(shop, code="SPRING")
    token = checkout_in_state(shop, state, rate)["token"]
    before = shop.storefront.get(f"checkouts/{token}.json").json()

    answer = send(shop, operation, token, rate)

    body = answer.json()
    assert (answer.status_code, body.get("code")) == expected(state, operation)
    if answer.status_code != 200:
        assert shop.storefront.get(f"checkouts/{token}.json").json() == before
    if body.get("code") == "invalid_phase":
        assert body["phase"] == before["checkout"]["phase"]
        assert body["allowed"] == [phase.value for phase in ALLOWED_PHASES[operation]]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_overdue_checkout_is_abandoned_for_everybody(shop, operation):
    rate = factories.make_rate(shop)
    token = checkout_in_state(shop, "processing", rate)["token"]
    with shop.scope():
        Checkout.objects.update(expires_at=timezone.now() - timedelta(hours=1))

    answer = send(shop, operation, token, rate)
    shown = shop.storefront.get(f"checkouts/{token}.json").json()["checkout"]

    assert (answer.status_code, answer.json()["code"]) == (409, "checkout_expired")
    assert shown["phase"] == "abandoned"


def test_paid_checkout_completes_after_its_time(shop):
    rate = factories.make_rate(shop)
    token = checkout_in_state(shop, "ready", rate)["token"]
    with shop.scope():
        Checkout.objects.update(expires_at=timezone.now() - timedelta(days=1))

    answer = send(shop, "complete", token, rate)

    assert (answer.status_code, answer.json()["checkout"]["phase"]) == (200, "completed")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_unknown_checkout_is_not_found(shop, other_shop, operation):
    rate = factories.make_rate(shop)
    foreign = checkout_in("ready", other_shop, (factories.make_variant(other_shop), 1))["token"]

    assert send(shop, operation, "nothing", rate).status_code == 404
    assert send(shop, operation, foreign, rate).status_code == 404

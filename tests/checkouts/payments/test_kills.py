"""Processes are killed after each part of a request: money and orders agree, whether the customer comes back or not.

The requests are served by tests/checkouts/payments/mortal.py. What comes after a death is done here.
"""

import os
import sys
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
import requests
from django.utils import timezone

from checkouts.models import Checkout, CheckoutPaymentAttempt
from checkouts.reconciliation import find_differences
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.rest.models import IdempotencyRecord
from config.stack.ports import find_free_port
from config.stack.processes import Service
from config.stack.programs import answers
from tests.checkouts.payments.conftest import URLS
from tests.checkouts.payments.mortal import DIES, PASSED

pytestmark = pytest.mark.django_db(transaction=True)

BODIES = {"start_payment": URLS, "confirm": {"callback_payload": {}}, "complete": {}}
# Claim of the key, the attempt, the gateway, its outcome, the answer stored under the key.
ASKING = ["commit 1", "commit 2", "call 1", "commit 3", "commit 4"]
POINTS = {"start_payment": ASKING, "confirm": ASKING, "complete": ["commit 1"]}


@pytest.fixture(scope="module")
def mortal(make_httpserver, tmp_path_factory) -> Iterator[str]:
    """Start a server whose processes may be killed."""
    port = find_free_port()
    address = f"127.0.0.1:{port}"
    server = Service(
        name="mortal",
        command=[sys.executable, "-m", "tests.checkouts.payments.mortal", str(port)],
        log=Path(tmp_path_factory.mktemp("mortal")) / "log",
        environment=os.environ | {"STRIPE_API_BASE": make_httpserver.url_for("").rstrip("/")},
        is_ready=partial(answers, address, "/healthz"),
    )
    server.start()
    try:
        server.wait_until_ready(seconds=30)
        yield f"http://{address}"
    finally:
        server.kill()


@pytest.fixture
def visit(mortal, till, stripe, pay_shop):
    """Send `operation` of a new checkout that is ready for it to the mortal server."""
    # Shorter than the shortest session of Stripe's, so that a test which lets it expire sends the same parameters.
    pay_shop.admin.put("settings.json", {"settings": {"commerce.checkout.session_ttl_minutes": 30}})

    def sent(operation, *, dies):
        payment = till("stripe")
        if operation != "start_payment":
            payment.start()
            stripe.pay_all()
        if operation == "complete":
            payment.confirm()
        client = payment.shop.storefront
        headers = client.headers | {DIES: dies, "Idempotency-Key": f"{operation}-{payment.token}"}
        url = f"{mortal}{client.prefix}{payment.path}/{operation}.json"
        with requests.Session() as session:
            session.trust_env = False
            return payment, _answer(session, url, BODIES[operation], headers)

    return sent


def _answer(session, url, body, headers):
    """Return the response; None if the process has died."""
    try:
        return session.post(url, json=body, headers=headers, timeout=120)
    except requests.ConnectionError:
        return None


def points_of(operation):
    return [f"{when} {what}" for what in POINTS[operation] for when in ("before", "after")]


@pytest.mark.parametrize("operation", POINTS)
def test_points_are_all_that_a_request_passes(visit, operation):
    _, answer = visit(operation, dies="never")

    assert answer.status_code == 200
    assert answer.headers[PASSED].split(", ") == points_of(operation)


@pytest.mark.parametrize("operation", POINTS)
def test_killed_request_is_made_good_by_a_client_that_asks_again(visit, stripe, operation):
    payments = [killed(visit, operation, point) for point in points_of(operation)]
    let_claims_expire(payments[0].shop)

    for payment in payments:
        ask_again(payment, operation, stripe)
    run_due()

    assert [payment.shown["phase"] for payment in payments] == ["completed"] * len(payments)
    assert_money_is_orders(payments[0].shop, stripe, orders=len(payments))


@pytest.mark.parametrize("operation", POINTS)
def test_killed_request_is_made_good_when_nobody_comes_back(visit, stripe, operation):
    payments = [killed(visit, operation, point) for point in points_of(operation)]
    stripe.pay_all()

    for payment in payments:
        payment.let_expire()
    for _ in range(2):
        sweep_overdue_checkouts(now=timezone.now())
        run_due()

    phases = [payment.shown["phase"] for payment in payments]
    assert set(phases) <= {"completed", "abandoned"}
    if operation != "start_payment":
        assert set(phases) == {"completed"}
    assert_money_is_orders(payments[0].shop, stripe, orders=phases.count("completed"))


def killed(visit, operation, point):
    payment, answer = visit(operation, dies=point)
    assert answer is None, point
    return payment


def ask_again(payment, operation, stripe):
    """Repeat requests with their keys up to the order. Confirm continues what was started and not answered."""
    if operation == "start_payment":
        again = payment.start(idempotency_key=f"start_payment-{payment.token}")
        assert again.status_code == 200
        assert again.json()["payment_attempt"]["redirect_url"]
        assert len(payment.attempts) == 1
        stripe.pay_all()
    if operation != "complete":
        assert payment.confirm(idempotency_key=f"confirm-{payment.token}").status_code == 200
    body = BODIES["complete"]
    path, key = f"{payment.path}/complete.json", f"complete-{payment.token}"
    first, second = (payment.shop.storefront.post(path, body, idempotency_key=key) for _ in range(2))
    assert (first.status_code, second.content) == (200, first.content)


def let_claims_expire(shop):
    """Let claims of dead processes expire, which takes two minutes."""
    with shop.scope():
        left = IdempotencyRecord.objects.filter(status=0)
        left.update(created_at=timezone.now() - timedelta(minutes=3))


def assert_money_is_orders(shop, stripe, *, orders):
    """Assert that each payment belongs to one paid order or was refunded, and that each order was paid and confirmed once."""
    paid = {name for name, session in stripe.sessions.items() if session["payment_status"] == "paid"}
    returned = {refund["payment_intent"].removeprefix("pi_") for refund in stripe.refunds}
    with shop.scope():
        assert list(find_differences()) == []
        placed = {order.checkout_id: order for order in Order.objects.all()}
        attempts = CheckoutPaymentAttempt.objects.filter(status="succeeded")
        kept = {attempt.provider_reference: attempt.checkout_id for attempt in attempts}
        emails = OutboxDispatch.objects.filter(target__task_name="send_email")
        keys = sorted(emails.values_list("idempotency_key", flat=True))
        reserved = Checkout.objects.filter(phase="abandoned", is_stock_reserved=True)
        assert not reserved.exists()
    assert len(placed) == orders
    assert sorted(kept.values()) == sorted(placed)
    assert {order.payment_status for order in placed.values()} <= {"paid"}
    assert paid == kept.keys() | returned
    assert not kept.keys() & returned
    assert len(stripe.refunds) == len(returned)
    assert keys == sorted(f"order.confirmation/{order.token}" for order in placed.values())
    assert "open" not in {session["status"] for session in stripe.sessions.values()}

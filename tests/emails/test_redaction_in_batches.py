"""Customers are redacted while batches with messages to them are under way."""

import time
from datetime import timedelta
from threading import Event
from types import SimpleNamespace

import pytest
from django.utils import timezone

from commerce.customers.operations.customers import redact_customer
from commerce.outbox import runs
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import leases
from commerce.outbox.worker import run_due
from emails.models import EmailDelivery
from tests.emails.batches import deliveries, ends, recipients, run_once
from tests.factories import make_customer
from tests.threads import run_threads

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick")]


def test_customer_who_is_redacted_while_a_batch_is_rendered_gets_nothing(
    shop, renderer, own_resend, enqueue_email
):
    ann, bob = make_customer(shop, email="ann@example.com"), make_customer(shop, email="bob@example.com")
    for customer in (ann, bob):
        enqueue_email(shop, key=f"email-{customer.pk}", to_email=customer.email, customer_id=customer.pk)

    def redact(_request):
        renderer.hold = lambda _request: None
        with shop.scope():
            redact_customer(customer_id=ann.pk, now=timezone.now())

    renderer.hold = redact

    run_once()

    assert recipients(own_resend) == {"bob@example.com": 1}
    assert sorted(ends(shop)) == [("skipped", 0), ("succeeded", 0)]
    with shop.scope():
        assert "ann@example.com" not in str(list(OutboxDispatch.objects.values()))
        assert [delivery.to_email for delivery in EmailDelivery.objects.all()] == ["bob@example.com"]


def test_customer_who_is_redacted_while_a_batch_is_handed_off_is_recorded_without_the_person(
    shop, renderer, own_resend, enqueue_email
):
    ann, bob = make_customer(shop, email="ann@example.com"), make_customer(shop, email="bob@example.com")
    for customer in (ann, bob):
        enqueue_email(shop, key=f"email-{customer.pk}", to_email=customer.email, customer_id=customer.pk)
    take = own_resend.take

    def redact(key, message):
        own_resend.take = take
        with shop.scope():
            redact_customer(customer_id=ann.pk, now=timezone.now())
        return take(key, message)

    own_resend.take = redact

    run_once()

    assert ends(shop) == [("succeeded", 0), ("succeeded", 0)]
    assert {one.to_email: one.html for one in deliveries(shop)} == {
        "": "",
        "bob@example.com": "<p>Thank you</p>",
    }


def test_words_of_a_provider_do_not_keep_the_address(shop, renderer, own_resend, enqueue_email):
    ann, bob = make_customer(shop, email="Ann@example.com"), make_customer(shop, email="bob@example.com")
    for customer in (ann, bob):
        enqueue_email(shop, key=f"email-{customer.pk}", to_email=customer.email, customer_id=customer.pk)
    own_resend.answers = [422]
    own_resend.words = "Ann@example.com (ann@example.com) is suppressed"
    take = own_resend.take

    def redact(key, message):
        # The first was refused, and isn't closed yet.
        if message["to"] == ["bob@example.com"]:
            with shop.scope():
                redact_customer(customer_id=ann.pk, now=timezone.now())
        return take(key, message)

    own_resend.take = redact

    run_once()

    assert ends(shop) == [("dead", 0), ("succeeded", 0)]
    with shop.scope():
        dead = OutboxDispatch.objects.get(status="dead")
        assert "ann@example.com" not in str(list(OutboxDispatch.objects.values())).lower()
    assert "is suppressed" in dead.last_error


def test_message_of_a_redacted_customer_is_not_kept_even_if_the_worker_is_lost(
    shop, renderer, own_resend, enqueue_email, monkeypatch
):
    customer = make_customer(shop, email="ann@example.com")
    enqueue_email(shop, key="email", to_email=customer.email, customer_id=customer.pk)

    def redact(_request):
        with shop.scope():
            redact_customer(customer_id=customer.pk, now=timezone.now())

    renderer.hold = redact
    # As if the process had ended before the batch was closed.
    monkeypatch.setattr(runs, "_close", lambda *_: True)
    monkeypatch.setattr(runs, "_release", lambda *_: None)

    run_once()

    with shop.scope():
        (left,) = OutboxDispatch.objects.all()
    assert (left.status, left.message) == ("processing", None)
    assert "to_email" not in left.payload


def test_redacted_customers_with_many_messages_cause_no_deadlock(shop, renderer, own_resend, enqueue_email):
    customers = [make_customer(shop, email=f"p{n}@example.com") for n in range(2)]
    with shop.scope():
        for customer in customers:
            redact_customer(customer_id=customer.pk, now=timezone.now())
    for round_ in range(6):
        for n in range(32):
            enqueue_email(shop, key=f"{round_}-{n}", customer_id=customers[n % 2].pk)
        run_threads(6, lambda _index: run_due(within=timedelta(minutes=1)))

    # Erasing cancels those that wait.
    assert set(ends(shop)) <= {("skipped", 0), ("cancelled", 0)}
    with shop.scope():
        assert "example.com" not in str(list(OutboxDispatch.objects.values()))


def test_redaction_waits_for_claims_that_are_renewed(shop, renderer, own_resend, enqueue_email, monkeypatch):
    """The worker's clock is ahead, so it renews its claims. Meanwhile all dispatches of the customer are erased."""
    customer = make_customer(shop, email="ann@example.com")
    for n in range(3):
        enqueue_email(shop, key=f"email-{n}", to_email=customer.email, customer_id=customer.pk)
    ahead = SimpleNamespace(now=lambda: timezone.now() + timedelta(seconds=40))
    monkeypatch.setattr(leases, "timezone", ahead)
    find_held, is_redacting = leases._find_held, Event()

    def find_held_slowly(*args):
        is_redacting.set()
        time.sleep(0.3)
        return find_held(*args)

    monkeypatch.setattr(leases, "_find_held", find_held_slowly)

    def work(index):
        if index == 0:
            run_once()
            return
        assert is_redacting.wait(30)
        with shop.scope():
            redact_customer(customer_id=customer.pk, now=timezone.now())

    run_threads(2, work)

    assert {attempts for _, attempts in ends(shop)} == {0}
    with shop.scope():
        assert "ann@example.com" not in str(list(OutboxDispatch.objects.values()))

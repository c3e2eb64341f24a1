"""Keys that clients choose never collide with the product's own, whatever they contain."""

import pytest
from django.db import connection
from django.utils import timezone

from commerce.events.models import Event
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import enqueue, enqueue_held
from commerce.outbox.worker import run_due
from emails.models import EmailDelivery
from tests.commerce.webhooks.rows import make_endpoint, make_event
from tests.factories import make_customer

NOW = timezone.now()
TOKEN = "a1" * 16


def send(shop, customer, key):
    body = {
        "template_key": "order.confirmation",
        "customer_id": customer.pk,
        "ctx": {"order": {"number": "1001"}},
        "idempotency_key": key,
    }
    return shop.admin.post("email/send.json", body)


def dispatches(shop, **fields):
    with shop.scope():
        return list(OutboxDispatch.objects.filter(**fields).order_by("pk"))


@pytest.fixture
def customer(shop):
    return make_customer(shop, email="ann@example.com")


@pytest.mark.parametrize("key", ["refund_payment/7", "cancel_payment/7", "webhook/1/1", "stripe/evt_1"])
def test_client_key_does_not_swallow_a_dispatch_of_the_product(shop, customer, renderer, mail_dir, key):
    assert send(shop, customer, key).status_code == 201

    with shop.scope():
        enqueue(task_name="refund_payment", payload={"attempt_id": 7}, idempotency_key=key, now=NOW)

    (refund,) = dispatches(shop, target__task_name="refund_payment")
    assert (refund.status, refund.key_space, refund.idempotency_key) == ("pending", "product", key)


def test_key_of_the_product_does_not_swallow_a_clients_email(shop, customer, renderer, mail_dir):
    with shop.scope():
        enqueue(task_name="example", payload={}, idempotency_key="refund_payment/7", now=NOW)

    response = send(shop, customer, "refund_payment/7")

    assert response.status_code == 201
    assert len(list(mail_dir.glob("*.eml"))) == 1


def test_email_of_the_product_is_sent_beside_a_clients_of_the_same_key(shop, customer, renderer, mail_dir):
    """The provider gets two keys as well. Otherwise it would take the second message for a repetition."""
    key = f"order.confirmation/{TOKEN}"
    assert send(shop, customer, key).status_code == 201
    payload = {
        "template_key": "order.confirmation",
        "to_email": "ann@example.com",
        "customer_id": customer.pk,
        "ctx": {"order": {"number": "1002"}},
        "reference_type": "order",
        "reference_id": 8,
    }
    with shop.scope():
        enqueue(task_name="send_email", payload=payload, idempotency_key=key, now=NOW)

    run_due()

    with shop.scope():
        sent = list(EmailDelivery.objects.order_by("pk").values_list("key_space", "reference_id"))
    assert sent == [("caller", None), ("product", 8)]
    assert len(list(mail_dir.glob("*.eml"))) == 2
    assert send(shop, customer, key).json()["email_delivery"]["reference_id"] is None


def test_client_key_of_a_coming_webhook_does_not_stop_publishing(shop):
    endpoint = make_endpoint(shop, topics=["order.paid"])
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM event_ids")
        last = cursor.fetchone()[0]
    with shop.scope():
        for event_id in range(last, last + 10):
            key = f"webhook/{endpoint.pk}/{event_id}"
            assert enqueue_held(task_name="send_email", payload={}, idempotency_key=key, now=NOW)

    event = make_event(shop, "order.paid")

    with shop.scope():
        assert Event.objects.filter(pk=event.pk).exists()
    assert event.pk < last + 10
    (dispatch,) = dispatches(shop, target__task_name="deliver_webhook")
    assert (dispatch.key_space, dispatch.payload["event_id"]) == ("product", event.pk)

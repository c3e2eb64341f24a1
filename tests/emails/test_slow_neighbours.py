"""A shop whose webhooks are slow, and another shop's emails."""

import threading
import time
from contextlib import contextmanager

import pytest
from django.utils import timezone
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import enqueue_many
from commerce.webhooks.models import WebhookEndpoint
from tests.commerce.webhooks.rows import make_endpoint, make_event
from tests.emails.workforce import working

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 2
THREADS = 8
# One shop's webhooks get three of the threads of a process.
HELD = WORKERS * 3
WEBHOOKS = 20
EMAILS = 30
# Long, for a busy machine: what is asserted is an order, not a duration.
PATIENCE_S = 60


class Holder:
    """A server that answers nobody until it is released."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self._lock = threading.Lock()
        self.waiting = 0
        self.answered = 0

    def __call__(self, request: Request) -> Response:
        request.get_data()
        with self._lock:
            self.waiting += 1
        self.may_answer.wait(PATIENCE_S)
        with self._lock:
            self.waiting -= 1
            self.answered += 1
        return Response("late")


@pytest.fixture
def holder():
    holder = Holder()
    server = HTTPServer(threaded=True)
    server.expect_request("/hook").respond_with_handler(holder)
    server.start()
    holder.url = server.url_for("/hook")
    yield holder
    holder.may_answer.set()
    server.stop()


@pytest.fixture
def mail_shop(other_shop, resend):
    own = {"commerce.email.provider": "resend", "commerce.email.api_key": "re_1"}
    assert other_shop.admin.put("settings.json", {"settings": own}).status_code == 200
    return other_shop


@contextmanager
def workers(renderer, resend, tmp_path):
    places = {
        "OUTBOX_THREADS": str(THREADS),
        "OUTSIDE_ALLOW_PRIVATE": "true",
        "RENDERER_URL": renderer.url,
        "ANYMAIL": f"RESEND_API_URL={resend.url}",
    }
    with working(WORKERS, log=tmp_path / "begun", environment=places):
        yield


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "It did not happen."
        time.sleep(0.02)


def statuses(shop, task_name):
    with shop.scope():
        rows = OutboxDispatch.objects.filter(target__task_name=task_name)
        return list(rows.values_list("status", flat=True))


def enqueue_emails(shop, number):
    payload = {
        "template_key": "order.confirmation",
        "customer_id": None,
        "locale": "en",
        "ctx": {"order": {"number": "1001"}},
        "reference_type": "order",
        "to_email": "ann@example.com",
    }
    payloads = {f"order.confirmation/{n}": payload | {"reference_id": n} for n in range(number)}
    with shop.scope():
        enqueue_many(task_name="send_email", payloads=payloads, now=timezone.now())


def test_emails_leave_while_a_neighbours_webhooks_wait(shop, mail_shop, holder, renderer, resend, tmp_path):
    endpoint = make_endpoint(shop, url=holder.url)
    for _ in range(WEBHOOKS):
        make_event(shop)
    with workers(renderer, resend, tmp_path):
        wait_for(lambda: holder.waiting == HELD)

        enqueue_emails(mail_shop, EMAILS)
        wait_for(lambda: statuses(mail_shop, "send_email") == ["succeeded"] * EMAILS)

        # All were sent while no webhook was answered, and no further webhook was begun.
        assert len(resend.received) == EMAILS
        assert (holder.waiting, holder.answered) == (HELD, 0)
        holder.may_answer.set()
        wait_for(lambda: statuses(shop, "deliver_webhook").count("processing") == 0)
    with shop.scope():
        assert WebhookEndpoint.objects.get(pk=endpoint.pk).status == "active"


def test_own_emails_of_the_shop_leave_as_well(mail_shop, holder, renderer, resend, tmp_path):
    make_endpoint(mail_shop, url=holder.url)
    with mail_shop.scope():
        WebhookEndpoint.objects.update(topics=["order.paid"])
    for _ in range(WEBHOOKS):
        make_event(mail_shop)
    with workers(renderer, resend, tmp_path):
        wait_for(lambda: holder.waiting == HELD)
        enqueue_emails(mail_shop, EMAILS)
        wait_for(lambda: statuses(mail_shop, "send_email") == ["succeeded"] * EMAILS)

        assert len(resend.received) == EMAILS
        assert (holder.waiting, holder.answered) == (HELD, 0)

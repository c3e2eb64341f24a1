"""Fixtures: a scripted renderer, a folder for mail, and dispatches of `send_email`."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.utils import timezone

from commerce.outbox import crew, handlers
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import enqueue
from emails import providers, renderer_client
from emails.handlers import AT_MOST
from emails.own_templates.models import EmailTemplateVersion
from emails.providers.services import ServiceProvider
from tests.emails.json_server import Answer, JsonServer, Request
from tests.emails.renderer.conftest import MJML
from tests.emails.resend import Resend


class Renderer(JsonServer):
    """Answers every request with `status` and `answer`, and stores the requests."""

    def __init__(self) -> None:
        super().__init__()
        self.status = 200
        self.answer: dict = {
            "subject": "Your order 1001",
            "html": "<p>Thank you</p>",
            "text": "Thank you",
            "preheader": None,
            "warnings": [],
        }
        self.headers: dict[str, str] = {}
        self.requests: list[dict] = []
        self.lanes: list[str | None] = []

    def hold(self, request: dict) -> None:
        """Called before each answer."""

    def refuse(self, status: int, code: str) -> None:
        self.status, self.answer = status, {"code": code, "detail": "No.", "status": status}

    def reply(self, request: Request) -> Answer:
        self.requests.append(request.message)
        self.lanes.append(request.headers.get("X-Render-Lane"))
        self.hold(request.message)
        return Answer(self.status, self.answer, self.headers)


@contextmanager
def serving(server: JsonServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def renderer(settings) -> Iterator[Renderer]:
    server = Renderer()
    settings.RENDERER_URL = server.url
    with serving(server):
        yield server
        renderer_client._open_pools.clear()


@pytest.fixture
def resend(settings) -> Iterator[Resend]:
    """A double of Resend, for accounts that have chosen it."""
    server = Resend()
    settings.ANYMAIL = {"RESEND_API_URL": server.url}
    with serving(server):
        yield server
        close_sessions()


def close_sessions() -> None:
    """Close the providers' sessions, whose sockets would outlive the test."""
    for provider in gc.get_objects():
        # Not isinstance(), which fails for weak proxies whose object has gone.
        if issubclass(type(provider), ServiceProvider):
            provider._backend.close()
    providers.get_provider.clear()


@pytest.fixture
def mail_dir(settings, tmp_path: Path) -> Iterator[Path]:
    """The folder where the local provider writes in this test."""
    settings.MAIL_DIR = tmp_path / "mail"
    providers.get_provider.clear()
    yield settings.MAIL_DIR
    providers.get_provider.clear()


@pytest.fixture
def enqueue_email():
    """Enqueue an order confirmation: `enqueue_email(shop, customer_id=..., locale=...)`."""

    def enqueue_email(shop, *, key="order.confirmation:1001", **payload) -> OutboxDispatch:
        payload = {
            "template_key": "order.confirmation",
            "to_email": "ann@example.com",
            "customer_id": None,
            "locale": "de-AT",
            "ctx": {"order": {"number": "1001"}},
            "reference_type": "order",
            "reference_id": 7,
        } | payload
        with shop.scope():
            enqueue(task_name="send_email", payload=payload, idempotency_key=key, now=timezone.now())
            return OutboxDispatch.objects.get(idempotency_key=key)

    return enqueue_email


@pytest.fixture
def make_version():
    """Write a version without rendering it: `make_version(shop, locale="de", number=2, kind="reset")`."""

    def make_version(shop, *, kind="saved", **fields):
        is_reset = kind == "reset"
        defaults = {
            "template_key": "order.confirmation",
            "locale": "en",
            "number": 1,
            "kind": kind,
            "subject": "" if is_reset else "Own {{ order.number }}",
            "body_source": "" if is_reset else MJML.format("Own"),
            "author": "key:1",
            "created_at": timezone.now(),
        }
        with shop.scope():
            return EmailTemplateVersion.objects.create(**defaults | fields)

    return make_version


@pytest.fixture
def quick(monkeypatch):
    """Every queue counts as quick from the start."""
    monkeypatch.setattr(crew._Paces, "choose_size", lambda self, queue: handlers.largest_batch(queue[1]))


@pytest.fixture
def own_resend(shop, resend):
    """A double of Resend, which the shop has chosen."""
    own = {"commerce.email.provider": "resend", "commerce.email.api_key": "re_1"}
    assert shop.admin.put("settings.json", {"settings": own}).status_code == 200
    return resend


@pytest.fixture
def enqueue_several(enqueue_email):
    """Enqueue messages to `ann0@example.com` and so on."""

    def enqueue_several(shop, number=AT_MOST, **payload):
        return [
            enqueue_email(shop, key=f"email-{n}", **{"to_email": f"ann{n}@example.com"} | payload)
            for n in range(number)
        ]

    return enqueue_several

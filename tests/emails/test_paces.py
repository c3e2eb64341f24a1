"""Slow templates of one account don't hold up the messages of others."""

import threading
from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import finish_running, run_due
from emails import paces
from emails.models import EmailDelivery
from emails.paces import is_slow, note_pace, rendering_turn
from emails.renderer_client import RendererBusy
from tests.emails.api.test_send import is_untouched, send
from tests.emails.conftest import Renderer, serving
from tests.factories import make_customer
from tests.problems import problem

PATIENCE_S = 60
HELD = {"order": {"number": "held"}}


class HoldingRenderer(Renderer):
    """Answers messages about one order only when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.may_answer = threading.Event()
        self.asked = threading.Event()

    def hold(self, request: dict) -> None:
        if request["ctx"]["order"] == HELD["order"]:
            self.asked.set()
            self.may_answer.wait(PATIENCE_S)


pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def holding(settings):
    server = HoldingRenderer()
    settings.RENDERER_URL = server.url
    with serving(server):
        yield server
        server.may_answer.set()


def rows(shop):
    with shop.scope():
        return list(OutboxDispatch.objects.filter(target__task_name="send_email").order_by("pk"))


def test_one_message_of_an_account_is_rendered_at_a_time(
    shop, other_shop, holding, mail_dir, enqueue_email, settings, monkeypatch
):
    """The rest waits, without using up tries, and another shop's message goes out meanwhile."""
    settings.OUTBOX_THREADS = 8
    monkeypatch.setattr(paces, "WAIT_S", 0.05)
    for index in range(3):
        enqueue_email(shop, key=f"mine-{index}", ctx=HELD)
    run_due(within=timedelta(seconds=0))
    assert holding.asked.wait(PATIENCE_S)
    enqueue_email(other_shop)
    for _ in range(600):
        run_due(within=timedelta(seconds=0.1))
        if [row.status for row in rows(other_shop)] == ["succeeded"]:
            break

    held = rows(shop)
    asked = [request["ctx"]["order"]["number"] for request in holding.requests]
    holding.may_answer.set()
    finish_running()

    assert [row.status for row in rows(other_shop)] == ["succeeded"]
    assert asked.count("held") == 1
    assert sorted(row.status for row in held) == ["pending", "pending", "processing"]
    assert {row.attempts for row in held} == {0}


def test_busy_renderer_uses_up_no_try(shop, renderer, mail_dir, enqueue_email):
    usual = renderer.answer
    renderer.refuse(503, "renderer_busy")
    enqueue_email(shop)
    began = timezone.now()

    run_due()

    (waiting,) = rows(shop)
    assert (waiting.status, waiting.attempts) == ("pending", 0)
    assert waiting.due_at - began >= timedelta(seconds=2)
    assert waiting.due_at - timezone.now() <= timedelta(seconds=4)
    renderer.status, renderer.answer = 200, usual
    with shop.scope():
        OutboxDispatch.objects.update(due_at=timezone.now())
    run_due()
    assert [row.status for row in rows(shop)] == ["succeeded"]


def test_renderer_that_gives_no_answer_in_time_uses_up_no_try(
    shop, holding, mail_dir, enqueue_email, monkeypatch
):
    monkeypatch.setattr("emails.renderer_client.TOTAL_TIMEOUT_S", 0.3)
    enqueue_email(shop, ctx=HELD)

    run_due()

    (waiting,) = rows(shop)
    assert (waiting.status, waiting.attempts) == ("pending", 0)


def test_busy_renderer_uses_up_tries_after_a_day(shop, renderer, mail_dir, enqueue_email):
    renderer.refuse(503, "renderer_busy")
    enqueue_email(shop)
    with shop.scope():
        OutboxDispatch.objects.update(created_at=timezone.now() - timedelta(days=1, seconds=1))

    run_due()

    (waiting,) = rows(shop)
    assert (waiting.status, waiting.attempts) == ("pending", 1)


def test_slow_accounts_share_one_turn(monkeypatch):
    monkeypatch.setattr(paces, "WAIT_S", 0.01)
    for account_id in (1, 2):
        note_pace(account_id, paces.SLOW_S + 0.01)

    with ExitStack() as turns:
        turns.enter_context(rendering_turn(1))
        with pytest.raises(RendererBusy):
            turns.enter_context(rendering_turn(2))
        turns.enter_context(rendering_turn(3))
        with pytest.raises(RendererBusy):
            turns.enter_context(rendering_turn(3))
    with rendering_turn(2):
        pass


def test_quick_message_ends_slowness():
    note_pace(1, 0.5)
    assert is_slow(1)

    note_pace(1, 0.1)

    assert not is_slow(1)


def test_message_of_a_slow_account_is_marked_as_slow(shop, renderer, mail_dir, enqueue_email):
    renderer.headers = {"Server-Timing": "cpu;dur=900.0"}
    for index in range(2):
        enqueue_email(shop, key=f"number-{index}")
        run_due()

    assert renderer.lanes == [None, "slow"]


def test_sending_at_once_is_refused_by_a_busy_renderer_with_nothing_done(shop, renderer, mail_dir):
    renderer.refuse(503, "renderer_busy")

    refused = send(shop, make_customer(shop, email="ann@example.com"))

    assert (problem(refused), refused["Retry-After"]) == ((503, "too_many_outside_calls"), "2")
    assert is_untouched(shop)
    with shop.scope():
        assert not EmailDelivery.objects.exists()

"""Slow templates of one account don't hold up the messages of others."""

import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import finish_running, run_due
from emails import paces
from emails.models import EmailDelivery
from emails.paces import Lane, choose_lane, note_slow
from tests.emails.api.sending import is_untouched, send
from tests.emails.conftest import Renderer, serving
from tests.factories import make_customer
from tests.problems import problem

PATIENCE_S = 60
# Longer than a test may run.
FOREVER_S = 600
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
    """The rest wait without using up retries, and another shop's message is sent meanwhile."""
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


def test_template_with_a_mistake_is_on_trial_no_longer(shop, renderer, mail_dir, enqueue_email, make_version):
    """The mistake is found quickly. On trial, its messages would take the only place of others."""
    make_version(shop)
    renderer.refuse(422, "template_invalid")
    enqueue_email(shop, locale="en")

    run_due()

    assert [(row.status, row.attempts) for row in rows(shop)] == [("dead", 0)]
    assert [account_id for account_id, _ in paces._quick_kinds] == [shop.id]


def test_quick_message_waits_the_longer_the_longer_the_renderer_is_busy(
    shop, renderer, mail_dir, enqueue_email
):
    renderer.refuse(503, "renderer_busy")
    enqueue_email(shop)
    waits = []
    for age_s in (1, 100, 3600):
        with shop.scope():
            began = timezone.now()
            OutboxDispatch.objects.update(created_at=began - timedelta(seconds=age_s), due_at=began)
        run_due()
        waits.append((rows(shop)[0].due_at - began).total_seconds())

    # Up to twice as long, so that retries don't coincide.
    assert 2 <= waits[0] < 5
    assert 10 <= waits[1] < 21
    assert 20 <= waits[2] < 41


def test_message_of_a_slow_account_is_marked_as_slow(shop, renderer, mail_dir, enqueue_email):
    renderer.headers = {"Server-Timing": "cpu;dur=900.0"}
    for index in range(2):
        enqueue_email(shop, key=f"number-{index}")
        run_due()

    assert renderer.lanes == ["quick", "slow"]


class Lanes(Renderer):
    """Renders in the slow lane. In the quick lane, answers that the message is too slow."""

    def hold(self, request: dict) -> None:
        is_quick = self.lanes[-1] == "quick"
        self.status = 503 if is_quick else 200
        self.answer = {"code": "too_slow_for_lane"} if is_quick else self.usual


@pytest.fixture
def lanes(settings):
    server = Lanes()
    server.usual = server.answer
    settings.RENDERER_URL = server.url
    with serving(server):
        yield server


def test_message_that_is_too_slow_for_the_quick_lane_moves_to_the_slow_one(
    shop, lanes, mail_dir, enqueue_email
):
    """The account's next messages go to the slow lane at once."""
    for index in range(2):
        enqueue_email(shop, key=f"number-{index}")
        run_due()

    assert [(row.status, row.attempts) for row in rows(shop)] == [("succeeded", 0)] * 2
    assert lanes.lanes == ["quick", "slow", "slow"]


def test_message_that_costs_two_workers_uses_up_a_try(shop, lanes, mail_dir, enqueue_email):
    lanes.hold = lambda request: 1 / 0
    enqueue_email(shop)

    run_due()

    assert [(row.status, row.attempts) for row in rows(shop)] == [("pending", 1)]
    # The platform's template isn't to blame, so it stays in its lane.
    assert lanes.lanes == ["quick", "quick"]


@pytest.mark.parametrize(("is_own", "lane"), [(True, Lane.SLOW), (False, Lane.QUICK)])
def test_own_template_without_an_answer_in_time_makes_its_account_slow(
    shop, holding, mail_dir, enqueue_email, make_version, monkeypatch, is_own, lane
):
    """The platform's templates are known to be quick: the renderer was busy with others."""
    monkeypatch.setattr("emails.renderer_client.TOTAL_TIMEOUT_S", 0.3)
    if is_own:
        make_version(shop)
    enqueue_email(shop, ctx=HELD, locale="en")

    run_due()

    assert choose_lane(shop.id) is lane
    assert [(row.status, row.attempts) for row in rows(shop)] == [("pending", 0)]


def test_slow_messages_hold_neither_threads_nor_the_messages_of_others(
    make_shop, shop, holding, mail_dir, enqueue_email, settings, monkeypatch
):
    """One of them is being rendered. The others wait in the outbox, without using up retries."""
    settings.OUTBOX_THREADS = 8
    monkeypatch.setattr(paces, "WAIT_S", FOREVER_S)
    slow_shops = [make_shop() for _ in range(3)]
    for slow in slow_shops:
        note_slow(slow.id)
        for index in range(3):
            enqueue_email(slow, key=f"slow-{index}", ctx=HELD)
    while not holding.asked.wait(0.1):
        run_due(within=timedelta(seconds=0))
    enqueue_email(shop)

    while [row.status for row in rows(shop)] != ["succeeded"]:
        run_due(within=timedelta(seconds=0.1))

    held = [row for slow in slow_shops for row in rows(slow)]
    lanes = list(holding.lanes)
    holding.may_answer.set()
    finish_running()
    assert sorted(lanes) == ["quick", "slow"]
    assert {row.status for row in held} <= {"pending", "processing"}
    assert {row.attempts for row in held} == {0}


def test_slow_message_waits_the_longer_the_longer_it_has_waited(shop, renderer, mail_dir, enqueue_email):
    renderer.refuse(503, "renderer_busy")
    note_slow(shop.id)
    enqueue_email(shop)
    waits = []
    for age_s in (30, 3600):
        with shop.scope():
            began = timezone.now()
            OutboxDispatch.objects.update(created_at=began - timedelta(seconds=age_s), due_at=began)
        run_due()
        waits.append((rows(shop)[0].due_at - began).total_seconds())

    assert waits[0] >= 15
    assert waits[1] >= 60


def test_sending_at_once_is_refused_by_a_busy_renderer_with_nothing_done(shop, renderer, mail_dir):
    renderer.refuse(503, "renderer_busy")

    refused = send(shop, make_customer(shop, email="ann@example.com"))

    assert (problem(refused), refused["Retry-After"]) == ((503, "too_many_outside_calls"), "2")
    assert is_untouched(shop)
    with shop.scope():
        assert not EmailDelivery.objects.exists()

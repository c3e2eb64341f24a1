"""The installation's provider is down: every shop's emails wait without using up retries."""

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.configuration.registry import installation_value
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from emails.mail_settings import read_mail_settings
from emails.resting import Health, ProviderResting, admit, note_answer, note_failure, note_refusal
from tests.servers import closed_port


@pytest.fixture
def installation(monkeypatch):
    """Change the installation's provider."""

    def use(provider, port=25):
        values = {"provider": provider, "smtp_host": "127.0.0.1", "smtp_port": port, "smtp_security": "none"}
        for name, value in values.items():
            monkeypatch.setenv(f"COMMERCE_EMAIL_{name.upper()}", str(value))
        installation_value.cache_clear()

    yield use
    monkeypatch.undo()
    installation_value.cache_clear()


def attempts(*shops):
    found = []
    for shop in shops:
        with shop.scope():
            found += OutboxDispatch.objects.order_by("pk").values_list("status", "attempts")
    return found


def run_when_due(*shops, **changes):
    """Run everything that waits, like a worker does once it is due."""
    for shop in shops:
        with shop.scope():
            OutboxDispatch.objects.filter(status="pending").update(due_at=timezone.now(), **changes)
    run_due()


def begin(shop, now):
    with shop.scope():
        return admit(read_mail_settings(), now=now)


def fail(shop, now, *, was_sent=False):
    health = begin(shop, now)
    with shop.scope():
        note_failure(health, was_sent=was_sent, now=now)


def rest_of(shop, now):
    """Return how long a message waits, in seconds."""
    try:
        begin(shop, now)
    except ProviderResting as resting:
        return (resting.until - now).total_seconds()
    return 0


def test_emails_of_all_shops_outlive_an_outage(
    shop, other_shop, renderer, mail_dir, enqueue_email, installation
):
    installation("smtp", closed_port())
    for each in (shop, other_shop):
        for number in range(5):
            enqueue_email(each, key=f"{each.id}:{number}")
    for _ in range(8):
        run_when_due(shop, other_shop)
    during = attempts(shop, other_shop)

    installation("local")
    run_when_due(shop, other_shop)

    assert during == [("pending", 0)] * 10
    assert attempts(shop, other_shop) == [("succeeded", 0)] * 10
    assert len(list(mail_dir.glob("*.eml"))) == 10


def test_provider_that_is_away_is_not_asked_for_every_message(
    shop, other_shop, renderer, enqueue_email, installation
):
    installation("smtp", closed_port())
    enqueue_email(shop, key="a")
    run_due()
    enqueue_email(shop, key="b")
    enqueue_email(other_shop, key="c")

    run_due()

    assert len(renderer.requests) == 1


def test_outage_of_more_than_a_day_uses_up_retries(shop, renderer, enqueue_email, installation):
    installation("smtp", closed_port())
    enqueue_email(shop, key="a")

    run_when_due(shop, created_at=timezone.now() - timedelta(days=2))

    assert attempts(shop) == [("pending", 1)]


def test_rest_grows_to_ten_minutes_with_one_try_each(shop, other_shop):
    now, rests = timezone.now(), []
    for _ in range(6):
        fail(shop, now)
        rests.append(rest_of(other_shop, now))
        now += timedelta(seconds=rests[-1])

    assert rests == [30, 60, 120, 240, 480, 600]
    assert begin(other_shop, now).failures == 6
    assert rest_of(shop, now) == 40


def test_failures_of_tries_that_began_together_count_once(shop, other_shop):
    now = timezone.now()
    begun = [(each, begin(each, now)) for each in (shop, other_shop, shop)]
    for each, health in begun:
        with each.scope():
            note_failure(health, was_sent=False, now=now)

    assert rest_of(shop, now) == 30


def test_message_of_one_shop_that_gets_no_answer_stops_no_other_shop(shop, other_shop):
    now = timezone.now()
    for _ in range(5):
        fail(shop, now, was_sent=True)

    assert rest_of(shop, now) == rest_of(other_shop, now) == 0


def test_messages_of_two_shops_that_get_no_answer_are_an_outage(shop, other_shop):
    now = timezone.now()
    fail(shop, now, was_sent=True)
    fail(other_shop, now, was_sent=True)

    assert rest_of(shop, now) == 30


@pytest.mark.parametrize("note", [note_answer, note_refusal])
def test_any_answer_ends_it(shop, other_shop, note):
    now = timezone.now()
    fail(shop, now)
    later = now + timedelta(seconds=30)
    health = begin(shop, later)
    assert rest_of(other_shop, later) == 40

    note(health, took_s=15, now=later)

    assert rest_of(other_shop, later) == 0
    assert begin(other_shop, later) == Health(health.server, 0, is_shared=True)

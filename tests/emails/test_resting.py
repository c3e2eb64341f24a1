"""A mail server that doesn't answer rests for a while and doesn't slow down other shops."""

from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.configuration.operations import change_settings
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from emails.mail_settings import read_mail_settings
from emails.models import EmailDelivery, MailServerRest
from emails.own_calls import own_call
from emails.resting import Health, ProviderResting, admit, note_answer, note_failure, note_refusal
from tests.servers import closed_port, dripping_server, silent_server, talking_server


@pytest.fixture
def use_smtp(settings, monkeypatch):
    settings.OUTSIDE_ALLOW_PRIVATE = True
    monkeypatch.setattr("emails.providers.smtp.TOTAL_TIMEOUT_S", 0.3)

    def use_smtp(shop, port, host="127.0.0.1"):
        values = {"provider": "smtp", "smtp_host": host, "smtp_port": port, "smtp_security": "none"}
        with shop.scope():
            change_settings(changes={f"commerce.email.{name}": value for name, value in values.items()})
            return read_mail_settings()

    return use_smtp


def dispatch_of(shop, key):
    with shop.scope():
        return OutboxDispatch.objects.get(idempotency_key=key)


def rest_of(shop):
    with shop.scope():
        return MailServerRest.objects.get()


def fail(shop, found, *, now):
    with shop.scope():
        note_failure(admit(found, now=now), was_sent=False, now=now)


def test_message_waits_while_the_server_rests_and_that_is_no_try(shop, renderer, enqueue_email, use_smtp):
    use_smtp(shop, closed_port())
    enqueue_email(shop, key="a")
    run_due()
    enqueue_email(shop, key="b")

    run_due()

    rest = rest_of(shop)
    first, second = dispatch_of(shop, "a"), dispatch_of(shop, "b")
    assert (first.status, first.attempts) == ("pending", 1)
    assert (second.status, second.attempts, second.due_at) == ("pending", 0, rest.rests_until)
    assert (rest.failures, len(renderer.requests)) == (1, 1)


@pytest.mark.parametrize("server", [silent_server, dripping_server, lambda: nullcontext(closed_port())])
def test_bad_server_of_one_shop_does_not_hold_another_shops_message(
    shop, other_shop, renderer, mail_dir, enqueue_email, use_smtp, settings, server
):
    with server() as port:
        use_smtp(shop, port)
        for number in range(30):
            enqueue_email(shop, key=f"slow:{number}")
        enqueue_email(other_shop, key="quick")

        run_due()

    assert dispatch_of(other_shop, "quick").status == "succeeded"
    tried = [dispatch_of(shop, f"slow:{number}").attempts for number in range(30)]
    assert set(tried) == {0, 1}
    assert sum(tried) <= settings.OUTBOX_THREADS
    assert rest_of(shop).failures == 1
    with other_shop.scope():
        assert not MailServerRest.objects.exists()


def test_server_that_answers_again_is_forgotten(shop, renderer, mail_dir, enqueue_email, use_smtp):
    settings_of_shop = use_smtp(shop, closed_port())
    now = timezone.now()
    fail(shop, settings_of_shop, now=now - timedelta(minutes=2))
    with shop.scope():
        health = admit(settings_of_shop, now=now)
        note_answer(health, took_s=1, now=now)

        assert health == Health(settings_of_shop.server, 1)
        assert not MailServerRest.objects.exists()


def test_server_that_is_slow_rests_although_it_takes_messages(shop, use_smtp):
    found, now = use_smtp(shop, 2525), timezone.now()
    with shop.scope():
        for took_s in (9, 10, 19):
            note_answer(Health(found.server), took_s=took_s, now=now)
            assert MailServerRest.objects.count() == (took_s >= 10)

    rest = rest_of(shop)
    assert (rest.server, rest.failures, rest.rests_until) == (found.server, 1, now + timedelta(seconds=30))


def test_server_that_is_slow_to_refuse_rests_longer_each_time(shop, use_smtp):
    found, now, rests = use_smtp(shop, 2525), timezone.now(), []
    with shop.scope():
        note_refusal(admit(found, now=now), took_s=9, now=now)
        assert not MailServerRest.objects.exists()
        for _ in range(3):
            note_refusal(admit(found, now=now), took_s=10, now=now)
            rests.append((MailServerRest.objects.get().rests_until - now).total_seconds())
            now = MailServerRest.objects.get().rests_until

    assert rests == [30, 60, 120]


@pytest.mark.parametrize(
    ("reply", "status", "attempts"), [(b"450 later", "pending", 1), (b"550 no", "dead", 0)]
)
def test_slow_refusal_lets_the_server_rest(
    shop, renderer, enqueue_email, use_smtp, monkeypatch, reply, status, attempts
):
    monkeypatch.setattr("emails.resting.SLOW_S", 0)
    with talking_server(b"220 ready\r\n", b"250 me\r\n", b"250 ok\r\n", reply + b"\r\n") as port:
        found = use_smtp(shop, port)
        enqueue_email(shop, key="a")
        run_due()
        enqueue_email(shop, key="b")
        run_due()

    first, second = dispatch_of(shop, "a"), dispatch_of(shop, "b")
    rest = rest_of(shop)
    assert (first.status, first.attempts) == (status, attempts)
    assert (rest.server, rest.failures) == (found.server, 1)
    assert (second.status, second.attempts, second.due_at) == ("pending", 0, rest.rests_until)


def test_slow_refusal_by_a_provider_that_is_busy_lets_it_rest(
    shop, renderer, resend, enqueue_email, monkeypatch
):
    monkeypatch.setattr("emails.resting.SLOW_S", 0)
    with shop.scope():
        change_settings(changes={"commerce.email.provider": "resend", "commerce.email.api_key": "re_1"})
    resend.answers = [429]
    enqueue_email(shop, key="a")

    run_due()

    first = dispatch_of(shop, "a")
    assert (first.status, first.attempts) == ("pending", 0)
    assert (rest_of(shop).server, rest_of(shop).failures) == ("resend", 1)


def test_message_that_finds_no_place_is_neither_rendered_nor_an_attempt(
    shop, other_shop, renderer, mail_dir, enqueue_email, use_smtp, settings
):
    settings.OUTBOX_THREADS = 1
    use_smtp(shop, 2525)
    enqueue_email(shop, key="a")
    enqueue_email(other_shop, key="b")

    with own_call(-1, among=1):
        run_due()

    waiting = dispatch_of(shop, "a")
    assert (waiting.status, waiting.attempts) == ("pending", 0)
    assert waiting.due_at > timezone.now()
    assert dispatch_of(other_shop, "b").status == "succeeded"
    assert len(renderer.requests) == 1
    with shop.scope():
        assert not MailServerRest.objects.exists()


def test_rest_grows_to_ten_minutes(shop, use_smtp):
    found, now, rests = use_smtp(shop, 2525), timezone.now(), []
    for _ in range(8):
        fail(shop, found, now=now)
        rests.append((rest_of(shop).rests_until - now).total_seconds())
        now = rest_of(shop).rests_until

    assert rests == [30, 60, 120, 240, 480, 600, 600, 600]


def test_after_the_rest_one_message_is_tried(shop, use_smtp):
    found, now = use_smtp(shop, 2525), timezone.now()
    fail(shop, found, now=now - timedelta(minutes=1))
    with shop.scope():
        assert admit(found, now=now).failures == 1

        with pytest.raises(ProviderResting) as resting:
            admit(found, now=now)

    assert resting.value.until == now + timedelta(seconds=40)


def test_failures_of_tries_that_began_together_count_once(shop, use_smtp):
    found, now = use_smtp(shop, 2525), timezone.now()
    with shop.scope():
        begun = [admit(found, now=now) for _ in range(5)]
        for health in begun:
            note_failure(health, was_sent=False, now=now)

    rest = rest_of(shop)
    assert (rest.failures, rest.rests_until) == (1, now + timedelta(seconds=30))


def test_other_server_of_the_account_is_tried_at_once(shop, use_smtp):
    now = timezone.now()
    fail(shop, use_smtp(shop, 2525), now=now)

    other = use_smtp(shop, 2526)

    with shop.scope():
        assert admit(other, now=now) == Health(other.server, 0)


def test_other_account_with_the_same_server_is_not_told(shop, other_shop, use_smtp):
    now = timezone.now()
    fail(shop, use_smtp(shop, 2525), now=now)

    found = use_smtp(other_shop, 2525)

    with other_shop.scope():
        assert admit(found, now=now).failures == 0


def test_provider_of_the_installation_costs_no_statement(shop, django_assert_num_queries):
    with shop.scope():
        found = read_mail_settings()
        with django_assert_num_queries(0):
            health = admit(found, now=timezone.now())
            note_failure(health, was_sent=False, now=timezone.now())
            note_answer(health, took_s=60, now=timezone.now())
            note_refusal(admit(found, now=timezone.now()), took_s=60, now=timezone.now())


def test_server_that_refuses_the_message_does_not_rest(shop, renderer, enqueue_email, use_smtp):
    """It has answered, and the answer is about the message, not about the server."""
    with shop.scope():
        change_settings(changes={"commerce.email.provider": "smtp", "commerce.email.smtp_host": ""})
    enqueue_email(shop, key="a")

    run_due()

    with shop.scope():
        assert OutboxDispatch.objects.get().attempts == 1
        assert not MailServerRest.objects.exists()
        assert not EmailDelivery.objects.exists()

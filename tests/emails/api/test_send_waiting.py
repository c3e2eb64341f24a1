"""Requests that send an email wait a short time at most for a server that a merchant has named."""

from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.configuration.operations import change_settings
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.waiting import Call, waiting_call
from emails.models import EmailDelivery, MailServerRest
from tests.emails.api.sending import is_untouched, rows, send
from tests.factories import make_customer
from tests.problems import problem
from tests.servers import closed_port, silent_server, talking_server

SMTP = [b"220 ready\r\n", b"250 me\r\n", b"250 ok\r\n", b"250 ok\r\n", b"354 go\r\n"]


@pytest.fixture
def customer(shop):
    return make_customer(shop, email="ann@example.com")


@pytest.fixture
def use_smtp(shop, settings):
    settings.OUTSIDE_ALLOW_PRIVATE = True

    def use_smtp(port):
        values = {"provider": "smtp", "smtp_host": "127.0.0.1", "smtp_port": port, "smtp_security": "none"}
        with shop.scope():
            change_settings(changes={f"commerce.email.{name}": value for name, value in values.items()})

    return use_smtp


def use_local(shop):
    names = ("provider", "smtp_host", "smtp_port", "smtp_security")
    with shop.scope():
        change_settings(changes={f"commerce.email.{name}": None for name in names})


@pytest.mark.parametrize("server", [silent_server, lambda: talking_server(*SMTP)])
def test_message_for_a_silent_server_is_passed_to_the_outbox(
    shop, customer, renderer, mail_dir, use_smtp, monkeypatch, server
):
    monkeypatch.setattr("emails.sending.WITHIN_S", 1)
    with server() as port:
        use_smtp(port)
        refused = send(shop, customer)

    (dispatch,) = rows(shop, OutboxDispatch)
    assert problem(refused) == (503, "email_under_way")
    assert (refused.json()["dispatch_id"], refused["Retry-After"]) == (str(dispatch.pk), "30")
    assert (dispatch.status, dispatch.attempts, dispatch.message is None) == ("pending", 0, False)
    assert dispatch.due_at <= timezone.now()
    assert problem(send(shop, customer)) == (409, "request_in_progress")
    use_local(shop)
    run_due()
    done = send(shop, customer)
    assert (done.status_code, done.json()["email_delivery"]["to_email"]) == (200, "ann@example.com")
    assert len(rows(shop, EmailDelivery)) == len(renderer.requests) == 1


def test_message_for_a_server_that_rests_is_refused(shop, customer, renderer, use_smtp):
    use_smtp(2525)
    with shop.scope():
        until = timezone.now() + timedelta(seconds=100)
        MailServerRest.objects.create(server="smtp://127.0.0.1:2525", failures=3, rests_until=until)

    refused = send(shop, customer)

    assert problem(refused) == (503, "email_provider_resting")
    assert 0 < int(refused["Retry-After"]) <= 100
    assert is_untouched(shop)
    assert renderer.requests == []


def test_server_that_a_request_could_not_reach_rests(shop, customer, renderer, use_smtp):
    use_smtp(closed_port())

    failed, refused = send(shop, customer), send(shop, customer)

    assert problem(failed) == (502, "provider_failed")
    assert problem(refused) == (503, "email_provider_resting")
    assert is_untouched(shop)
    assert [rest.failures for rest in rows(shop, MailServerRest)] == [1]
    assert len(renderer.requests) == 1


def test_account_may_have_one_request_that_waits(shop, other_shop, customer, renderer, mail_dir):
    with ExitStack() as waiting:
        waiting.enter_context(waiting_call(Call.EMAIL, shop.id, within_s=5))

        refused = send(shop, customer)
        other = send(other_shop, make_customer(other_shop))

    assert problem(refused) == (503, "too_many_outside_calls")
    assert refused["Retry-After"] == "2"
    assert is_untouched(shop)
    assert other.status_code == 201
    assert send(shop, customer).status_code == 201


def test_threads_are_left_however_many_accounts_wait(shop, customer, renderer, mail_dir):
    with ExitStack() as waiting:
        for account_id in (-1, -2):
            waiting.enter_context(waiting_call(Call.EMAIL, account_id, within_s=5))

        refused = send(shop, customer)

    assert problem(refused) == (503, "too_many_outside_calls")
    assert is_untouched(shop)

"""POST email/send.json: a renderer or provider that fails, and requests that die or are overtaken."""

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from emails import sender
from emails.models import EmailDelivery, MailServerRest
from tests.emails.api.sending import is_untouched, rows, send, use_resend
from tests.factories import make_customer
from tests.problems import problem


@pytest.mark.parametrize(("status", "code"), [(422, "invalid_mjml"), (500, "internal_error")])
def test_failure_of_the_renderer_keeps_nothing_and_the_key_stays_free(
    shop, customer, renderer, mail_dir, status, code
):
    answer = renderer.answer
    renderer.refuse(status, code)

    failed = send(shop, customer)

    assert problem(failed) == (502, "renderer_failed")
    assert is_untouched(shop)
    renderer.status, renderer.answer = 200, answer
    assert send(shop, customer).status_code == 201


def test_renderer_that_cannot_be_reached_is_a_failure(shop, customer, settings):
    settings.RENDERER_URL = "http://127.0.0.1:9"

    response = send(shop, customer)

    assert problem(response) == (502, "renderer_failed")
    assert is_untouched(shop)


@pytest.mark.parametrize("status", [401, 403, 422, 429, 500, 503])
def test_failure_of_the_provider_keeps_nothing_and_the_key_stays_free(
    shop, customer, renderer, resend, status
):
    use_resend(shop)
    resend.answers = [status]

    failed = send(shop, customer)

    assert problem(failed) == (502, "provider_failed")
    assert "dispatch_id" not in failed.json()
    assert is_untouched(shop)
    done = send(shop, customer)
    assert done.status_code == 201
    assert done.json()["email_delivery"]["provider_message_id"] == resend.ids[f"{shop.id}:caller:a"]


def test_provider_that_cannot_be_reached_is_a_failure(shop, customer, renderer, resend, settings):
    use_resend(shop)
    settings.ANYMAIL = {"RESEND_API_URL": "http://127.0.0.1:9/"}

    response = send(shop, customer)

    assert problem(response) == (502, "provider_failed")
    assert is_untouched(shop)


def test_message_whose_acceptance_was_not_heard_of_is_finished_by_the_outbox(
    shop, customer, renderer, resend
):
    use_resend(shop)
    resend.hangs_up = True
    failed = send(shop, customer)
    (dispatch,) = rows(shop, OutboxDispatch)
    waiting = send(shop, customer)
    resend.hangs_up = False
    renderer.answer = renderer.answer | {"html": "<p>Another text</p>"}
    with shop.scope():
        OutboxDispatch.objects.update(due_at=timezone.now())
        MailServerRest.objects.update(rests_until=timezone.now())

    run_due()

    assert problem(failed) == (502, "provider_failed")
    assert failed.json()["dispatch_id"] == str(dispatch.pk)
    assert (dispatch.status, dispatch.attempts) == ("pending", 1)
    assert problem(waiting) == (409, "request_in_progress")
    done = send(shop, customer)
    assert done.status_code == 200
    assert done.json()["email_delivery"]["provider_message_id"] == resend.ids[f"{shop.id}:caller:a"]
    assert len(resend.requests) == 2
    assert len(resend.received) == len(renderer.requests) == 1


def test_request_that_died_is_finished_by_the_outbox(shop, renderer, resend, monkeypatch):
    use_resend(shop)
    customer = make_customer(shop, notification_preferences={"order.confirmation": False})
    hand_off = sender.Sender.hand_off

    def die(self, message, *, dispatch, among):
        hand_off(self, message, dispatch=dispatch, among=among)
        raise SystemExit

    monkeypatch.setattr(sender.Sender, "hand_off", die)
    with pytest.raises(SystemExit):
        send(shop, customer, skip_notification_check=True)
    monkeypatch.setattr(sender.Sender, "hand_off", hand_off)
    assert problem(send(shop, customer, skip_notification_check=True)) == (409, "request_in_progress")
    with shop.scope():
        OutboxDispatch.objects.update(locked_until=timezone.now() - timedelta(seconds=1))

    run_due()

    assert send(shop, customer, skip_notification_check=True).status_code == 200
    assert len(resend.received) == len(renderer.requests) == 1


def test_request_that_was_overtaken_while_it_rendered_sends_nothing(
    shop, customer, renderer, resend, monkeypatch
):
    use_resend(shop)
    render = sender.Sender.render

    def render_slowly(self, request, draft):
        with shop.scope():
            OutboxDispatch.objects.update(locked_until=timezone.now() - timedelta(seconds=1))
        monkeypatch.undo()
        run_due()
        return render(self, request, draft)

    monkeypatch.setattr(sender.Sender, "render", render_slowly)

    response = send(shop, customer)

    assert problem(response) == (409, "request_in_progress")
    assert len(resend.requests) == len(rows(shop, EmailDelivery)) == 1

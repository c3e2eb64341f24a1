"""POST email/send.json: a message is sent once under its idempotency key, and under the header's."""

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.events.models import Event
from commerce.rest.models import IdempotencyRecord
from emails.models import EmailDelivery
from tests.emails.api.sending import rows, send, use_resend
from tests.factories import make_customer, make_delivery, make_dispatch
from tests.problems import problem
from tests.threads import run_threads


def test_repeated_key_answers_the_same_delivery_and_sends_nothing(shop, customer, renderer, mail_dir):
    first = send(shop, customer)

    again = send(shop, customer, locale="en-US", template_key="unheard.of")

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert (len(renderer.requests), len(rows(shop, EmailDelivery)), len(rows(shop, Event))) == (1, 1, 1)


def test_key_of_another_account_is_another_message(shop, other_shop, customer, renderer, mail_dir):
    send(shop, customer)

    response = send(other_shop, make_customer(other_shop))

    assert response.status_code == 201
    assert len(list(mail_dir.glob("*.eml"))) == 2


@pytest.mark.parametrize("status", ["dead", "cancelled", "skipped", "succeeded"])
def test_key_of_a_dispatch_that_ended_without_an_email_is_refused(shop, customer, renderer, status):
    dispatch = make_dispatch(shop, key_space="caller", idempotency_key="a", status=status)

    response = send(shop, customer)

    assert problem(response) == (409, "email_key_given_up")
    assert (response.json()["dispatch_id"], response.json()["dispatch_status"]) == (str(dispatch.pk), status)
    assert (rows(shop, EmailDelivery), renderer.requests) == ([], [])


def test_key_of_a_message_that_the_outbox_has_sent_answers_its_delivery(shop, customer, renderer):
    delivery = make_delivery(shop, key_space="caller", idempotency_key="order.confirmation/1")

    response = send(shop, customer, idempotency_key="order.confirmation/1")

    assert (response.status_code, response.json()["email_delivery"]["id"]) == (200, str(delivery.pk))
    assert renderer.requests == []


@pytest.mark.django_db(transaction=True)
def test_sends_at_once_under_one_key_are_one_message(shop, customer, renderer, resend):
    use_resend(shop)
    resend.delay_s = 0.05

    responses = run_threads(8, lambda _: send(shop, customer))

    statuses = sorted(response.status_code for response in responses)
    assert statuses.count(201) == 1
    assert set(statuses) <= {200, 201, 409}
    assert len(resend.requests) == len(rows(shop, EmailDelivery)) == len(rows(shop, Event)) == 1


def test_idempotency_key_header_replays_the_answer(shop, customer, renderer, mail_dir):
    first = send(shop, customer, header="h")

    again = send(shop, customer, header="h")

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again["Idempotent-Replayed"] == "true"
    assert len(renderer.requests) == 1


def test_idempotency_key_header_with_another_body_is_refused(shop, customer, renderer, mail_dir):
    send(shop, customer, header="h")

    response = send(shop, customer, header="h", idempotency_key="b")

    assert problem(response) == (422, "idempotency_key_reused")
    assert len(renderer.requests) == 1


def test_idempotency_key_header_of_a_refused_request_is_free_again(shop, customer, renderer, mail_dir):
    refused = send(shop, customer, header="h", template_key="unheard.of")

    assert problem(refused) == (404, "template_not_found")
    assert rows(shop, IdempotencyRecord) == []
    assert send(shop, customer, header="h").status_code == 201


@pytest.mark.parametrize(("age", "status"), [(timedelta(), 409), (timedelta(minutes=3), 201)])
def test_idempotency_key_header_of_a_request_under_way_waits_until_that_must_have_died(
    shop, customer, renderer, mail_dir, monkeypatch, age, status
):
    def die(**_):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("commerce.rest.idempotency._RELEASE", "SELECT %s, %s, %s, %s")
        patch.setattr("emails.sending.send_now", die)
        with pytest.raises(SystemExit):
            send(shop, customer, header="h")
    with shop.scope():
        IdempotencyRecord.objects.update(created_at=timezone.now() - age)

    response = send(shop, customer, header="h")

    assert response.status_code == status
    assert len(rows(shop, EmailDelivery)) == (status == 201)


@pytest.mark.django_db(transaction=True)
def test_sends_at_once_under_one_header_are_done_once(shop, customer, renderer, mail_dir):
    responses = run_threads(6, lambda number: send(shop, customer, header="h"))

    done = [response.json() for response in responses if response.status_code == 201]
    assert {response.status_code for response in responses} <= {201, 409}
    assert done == done[:1] * len(done)
    assert len(rows(shop, EmailDelivery)) == len(rows(shop, IdempotencyRecord)) == 1

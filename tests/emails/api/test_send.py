from datetime import timedelta
from email import message_from_bytes, policy

import pytest
from django.db import connection
from django.utils import timezone

from commerce.configuration.operations import change_settings
from commerce.events.models import Event
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.rest.models import IdempotencyRecord
from emails import sender
from emails.models import EmailDelivery
from tests.factories import make_customer, make_delivery, make_dispatch
from tests.problems import field_errors, problem
from tests.threads import run_threads


def send(shop, customer, *, client=None, header=None, **body):
    body = {
        "template_key": "order.confirmation",
        "customer_id": customer.pk,
        "ctx": {"order": {"number": "1001"}},
        "locale": "de-AT",
        "reference_type": "order",
        "reference_id": 7,
        "idempotency_key": "a",
    } | body
    headers = {} if header is None else {"idempotency_key": header}
    return (client or shop.admin).post("email/send.json", body, **headers)


def rows(shop, model):
    with shop.scope():
        return list(model.objects.order_by("pk"))


def is_untouched(shop):
    """Whether nothing is stored of a message."""
    return [rows(shop, model) for model in (EmailDelivery, OutboxDispatch, Event)] == [[], [], []]


def use_resend(shop):
    with shop.scope():
        change_settings(changes={"commerce.email.provider": "resend", "commerce.email.api_key": "re_1"})


@pytest.fixture
def customer(shop):
    return make_customer(shop, email="ann@example.com", locale="cs-CZ")


def test_email_is_sent_recorded_and_answered(shop, customer, renderer, mail_dir):
    response = send(shop, customer)

    assert response.status_code == 201
    (delivery,) = rows(shop, EmailDelivery)
    shown = response.json()["email_delivery"]
    assert shown.pop("queued_at") <= shown.pop("sent_at")
    assert shown == {
        "id": str(delivery.pk),
        "template_key": "order.confirmation",
        "customer_id": str(customer.pk),
        "to_email": "ann@example.com",
        "locale": "de-AT",
        "subject": "Your order 1001",
        "provider": "local",
        "provider_message_id": delivery.provider_message_id,
        "reference_type": "order",
        "reference_id": "7",
        "status": "sent",
        "delivered_at": None,
        "opened_at": None,
        "first_clicked_at": None,
        "bounced_at": None,
    }
    assert delivery.ctx == {"order": {"number": "1001"}}
    assert renderer.requests[0]["locale"] == "de"
    assert renderer.requests[0]["ctx"]["order"] == {"number": "1001"}
    (path,) = mail_dir.glob("*.eml")
    assert message_from_bytes(path.read_bytes(), policy=policy.default)["To"] == "ann@example.com"
    assert [event.type for event in rows(shop, Event)] == ["email.sent"]
    (dispatch,) = rows(shop, OutboxDispatch)
    assert (dispatch.status, dispatch.attempts, dispatch.message) == ("succeeded", 0, None)


def test_email_with_the_bare_minimum_takes_the_customers_locale(shop, customer, renderer, mail_dir):
    body = {"template_key": "order.confirmation", "customer_id": customer.pk, "idempotency_key": "a"}

    response = shop.admin.post("email/send.json", body)

    shown = response.json()["email_delivery"]
    assert (response.status_code, shown["locale"], shown["reference_type"]) == (201, "cs-CZ", None)
    assert renderer.requests[0]["locale"] == "cs"
    assert rows(shop, EmailDelivery)[0].ctx == {}


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


def test_unknown_template_is_not_found(shop, customer, renderer, mail_dir):
    response = send(shop, customer, template_key="unheard.of")

    assert problem(response) == (404, "template_not_found")
    assert is_untouched(shop)


@pytest.mark.parametrize("owner", ["nobody", "other_shop"])
def test_customer_who_is_none_of_the_account_is_refused(shop, other_shop, customer, renderer, owner):
    customer_id = make_customer(other_shop).pk if owner == "other_shop" else 2**40

    response = send(shop, customer, customer_id=customer_id)

    assert field_errors(response) == {("customer_id", "not_found")}
    assert is_untouched(shop)


def test_redacted_customer_is_refused(shop, customer, renderer):
    shop.admin.post(f"customers/{customer.pk}/redact.json")

    response = send(shop, customer, skip_notification_check=True)

    assert problem(response) == (409, "customer_redacted")
    assert is_untouched(shop)


def test_customer_without_an_address_is_refused(shop, renderer):
    response = send(shop, make_customer(shop, email=None, normalised_email=None))

    assert field_errors(response) == {("customer_id", "no_email")}
    assert is_untouched(shop)


def test_message_that_the_customer_has_switched_off_is_refused_unless_the_check_is_skipped(
    shop, renderer, mail_dir
):
    customer = make_customer(shop, notification_preferences={"order.confirmation": False})

    refused = send(shop, customer)

    assert problem(refused) == (409, "notification_disabled")
    assert is_untouched(shop)
    assert send(shop, customer, skip_notification_check=True).status_code == 201


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

    def die(self, message, *, dispatch):
        hand_off(self, message, dispatch=dispatch)
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


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"idempotency_key": ""}, ("idempotency_key", "blank")),
        ({"idempotency_key": "x" * 256}, ("idempotency_key", "max_length")),
        ({"idempotency_key": None}, ("idempotency_key", "null")),
        ({"customer_id": None}, ("customer_id", "null")),
        ({"template_key": 1}, ("template_key", "invalid")),
        ({"ctx": []}, ("ctx", "invalid")),
        ({"ctx": None}, ("ctx", "null")),
        ({"ctx": {"a": "\x00"}}, ("ctx", "null_characters_not_allowed")),
        ({"ctx": {"a": "x" * 131_072}}, ("ctx", "too_large")),
        ({"ctx": {"a": [0] * 20_000}}, ("ctx", "too_large")),
        ({"locale": "german"}, ("locale", "invalid_locale")),
        ({"reference_id": 2**63}, ("reference_id", "max_value")),
        ({"skip_notification_check": "true"}, ("skip_notification_check", "invalid")),
    ],
)
def test_body_that_breaks_a_rule_is_refused(shop, customer, renderer, body, error):
    response = send(shop, customer, **body)

    assert field_errors(response) == {error}
    assert is_untouched(shop)


def test_send_needs_the_right_to_write(shop, customer, renderer, mail_dir):
    refused = send(shop, customer, client=shop.client_with("read_emails"))

    assert problem(refused) == (403, "insufficient_scope")
    assert is_untouched(shop)
    assert send(shop, customer, client=shop.client_with("write_emails")).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_others_are_called(shop, customer, renderer, mail_dir, monkeypatch):
    seen = []
    for name in ("render", "hand_off"):
        call = getattr(sender.Sender, name)

        def watched(*args, call=call, **kwargs):
            seen.append(connection.in_atomic_block)
            return call(*args, **kwargs)

        monkeypatch.setattr(sender.Sender, name, watched)

    send(shop, customer, header="h")

    assert seen == [False, False]


@pytest.mark.django_db(transaction=True)
def test_sends_at_once_under_one_key_are_one_message(shop, customer, renderer, resend):
    use_resend(shop)
    resend.delay_s = 0.05

    responses = run_threads(8, lambda _: send(shop, customer))

    statuses = sorted(response.status_code for response in responses)
    assert statuses.count(201) == 1
    assert set(statuses) <= {200, 201, 409}
    assert len(resend.requests) == len(rows(shop, EmailDelivery)) == len(rows(shop, Event)) == 1


def test_statements_of_a_send_are_fixed(shop, customer, renderer, mail_dir, django_assert_num_queries):
    send(shop, customer)

    # Four scopes of savepoint, setting, setting and release, and fifteen statements in them.
    with django_assert_num_queries(31):
        send(shop, customer, idempotency_key="b")


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

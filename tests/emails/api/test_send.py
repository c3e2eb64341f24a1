"""POST email/send.json: what is sent, recorded and answered, and to whom nothing is sent."""

from email import message_from_bytes, policy

import pytest
from django.db import connection

from commerce.events.models import Event
from commerce.outbox.models import OutboxDispatch
from emails import sender
from emails.models import EmailDelivery
from tests.emails.api.sending import is_untouched, rows, send
from tests.factories import make_customer
from tests.problems import field_errors, problem


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


def test_statements_of_a_send_are_fixed(shop, customer, renderer, mail_dir, django_assert_num_queries):
    send(shop, customer)

    # Four scopes of savepoint, setting, setting and release, and fifteen statements in them.
    with django_assert_num_queries(31):
        send(shop, customer, idempotency_key="b")

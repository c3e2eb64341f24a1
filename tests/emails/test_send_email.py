from datetime import timedelta
from email import message_from_bytes, policy

import pytest
from django.utils import timezone

from accounts.models import Account
from commerce.events.models import Event
from commerce.outbox.claims import claim_dispatches
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import begin_dispatches
from commerce.outbox.worker import run_due
from commerce.tenancy.scope import workspace_scope
from emails.handlers import Sending
from emails.models import EmailDelivery
from tests.factories import make_customer, make_delivery, make_dispatch

RESEND = {"commerce.email.provider": "resend", "commerce.email.api_key": "re_1"}


def reread(shop, dispatch):
    with shop.scope():
        return OutboxDispatch.objects.get(pk=dispatch.pk)


def deliveries(shop):
    with shop.scope():
        return list(EmailDelivery.objects.all())


def events(shop):
    with shop.scope():
        return list(Event.objects.filter(type="email.sent"))


def mails(mail_dir):
    return [message_from_bytes(path.read_bytes(), policy=policy.default) for path in mail_dir.glob("*.eml")]


def end_lease(shop):
    """Let the worker's lease end, as if it had died: nobody closes what it has begun."""
    with shop.scope():
        OutboxDispatch.objects.update(locked_until=timezone.now() - timedelta(seconds=1))


def lose_worker_after_hand_off(shop):
    """Hand the message off, but don't close its dispatch, as if the worker had died then."""
    (claim,) = claim_dispatches()
    with shop.scope():
        dispatches = begin_dispatches(claims=[claim])
    list(Sending(dispatches).run())


def test_email_is_sent_and_recorded(shop, renderer, mail_dir, enqueue_email):
    customer = make_customer(shop)
    dispatch = enqueue_email(shop, customer_id=customer.pk)

    run_due()

    done = reread(shop, dispatch)
    assert (done.status, done.attempts, done.message) == ("succeeded", 0, None)
    (delivery,) = deliveries(shop)
    assert delivery.status == "sent"
    assert delivery.template_key == "order.confirmation"
    assert delivery.customer_id == customer.pk
    assert delivery.to_email == "ann@example.com"
    assert delivery.locale == "de-AT"
    assert delivery.subject == "Your order 1001"
    assert delivery.html == "<p>Thank you</p>"
    assert delivery.text == "Thank you"
    assert delivery.ctx == {"order": {"number": "1001"}}
    assert delivery.provider == "local"
    assert delivery.idempotency_key == "order.confirmation:1001"
    assert (delivery.reference_type, delivery.reference_id) == ("order", 7)
    assert delivery.queued_at == dispatch.created_at
    assert delivery.sent_at >= delivery.queued_at
    (mail,) = mails(mail_dir)
    assert mail["Message-ID"] == delivery.provider_message_id
    assert mail["To"] == "ann@example.com"


def test_email_sent_is_published(shop, renderer, mail_dir, enqueue_email):
    customer = make_customer(shop)
    enqueue_email(shop, customer_id=customer.pk)

    run_due()

    (delivery,) = deliveries(shop)
    (event,) = events(shop)
    assert event.data == {
        "email_delivery_id": str(delivery.pk),
        "template_key": "order.confirmation",
        "customer_id": str(customer.pk),
        "provider_message_id": delivery.provider_message_id,
        "reference_type": "order",
        "reference_id": "7",
    }


def test_email_is_rendered_from_the_nearest_locale_with_the_account_at_hand(
    shop, renderer, mail_dir, enqueue_email
):
    enqueue_email(shop, locale="de-AT")

    run_due()

    (request,) = renderer.requests
    assert request["locale"] == "de"
    assert "Bestellung" in request["subject_template"]
    assert request["source_format"] == "mjml"
    assert request["ctx"] == {
        "account": {"name": shop.handle.title(), "timezone": "UTC"},
        "order": {"number": "1001"},
    }


@pytest.mark.parametrize(
    ("requested", "of_the_customer", "expected"),
    [("cs-CZ", "de-DE", "cs"), (None, "de-DE", "de"), (None, None, "en")],
)
def test_email_takes_the_locale_of_the_dispatch_then_of_the_customer_then_of_the_account(
    shop, renderer, mail_dir, enqueue_email, requested, of_the_customer, expected
):
    customer = make_customer(shop, locale=of_the_customer)
    enqueue_email(shop, locale=requested, customer_id=customer.pk)

    run_due()

    assert renderer.requests[0]["locale"] == expected
    assert deliveries(shop)[0].locale == (requested or of_the_customer or "en-US")


def test_email_comes_from_the_account(shop, renderer, mail_dir, enqueue_email, settings):
    settings.EMAIL_TRUST_SENDER_DOMAINS = True
    with workspace_scope(shop.workspace_id):
        Account.objects.filter(pk=shop.id).update(name="Hats\n& Co, Žižkov", email_from="hats@example.com")
    enqueue_email(shop)

    run_due()

    (mail,) = mails(mail_dir)
    (sender,) = mail["From"].addresses
    assert (sender.display_name, sender.addr_spec) == ("Hats & Co, Žižkov", "hats@example.com")


@pytest.mark.parametrize("preferences", [{}, {"order.confirmation": True}, {"newsletter": False}])
def test_email_that_the_customer_has_not_switched_off_is_sent(
    shop, renderer, mail_dir, enqueue_email, preferences
):
    customer = make_customer(shop, notification_preferences=preferences)
    enqueue_email(shop, customer_id=customer.pk)

    run_due()

    assert len(deliveries(shop)) == 1


def test_email_that_the_customer_has_switched_off_is_skipped(shop, renderer, mail_dir, enqueue_email):
    customer = make_customer(shop, notification_preferences={"order.confirmation": False})
    dispatch = enqueue_email(shop, customer_id=customer.pk)

    run_due()

    assert reread(shop, dispatch).status == "skipped"
    assert reread(shop, dispatch).finished_at is not None
    assert (renderer.requests, deliveries(shop), events(shop), mails(mail_dir)) == ([], [], [], [])


def test_email_to_a_redacted_customer_is_skipped(shop, renderer, mail_dir, enqueue_email):
    customer = make_customer(shop)
    dispatch = enqueue_email(shop, customer_id=customer.pk)
    with shop.scope():
        customer.email = customer.normalised_email = None
        customer.redacted_at = timezone.now()
        customer.save()

    run_due()

    assert reread(shop, dispatch).status == "skipped"
    assert (renderer.requests, deliveries(shop), mails(mail_dir)) == ([], [], [])


def test_email_is_tried_again_when_the_renderer_is_down(shop, mail_dir, enqueue_email, settings):
    settings.RENDERER_URL = "http://127.0.0.1:9"
    dispatch = enqueue_email(shop)

    run_due()

    waiting = reread(shop, dispatch)
    assert (waiting.status, waiting.attempts) == ("pending", 1)
    assert waiting.last_error.startswith("RendererUnavailable: ")
    assert (deliveries(shop), events(shop), mails(mail_dir)) == ([], [], [])


def test_email_is_tried_again_when_the_renderer_fails(shop, renderer, mail_dir, enqueue_email):
    renderer.refuse(500, "internal_error")
    dispatch = enqueue_email(shop)

    run_due()

    assert reread(shop, dispatch).status == "pending"
    assert deliveries(shop) == []


def test_email_is_dead_when_the_renderer_refuses_it(shop, renderer, mail_dir, enqueue_email):
    renderer.refuse(422, "invalid_mjml")
    dispatch = enqueue_email(shop)

    run_due()

    dead = reread(shop, dispatch)
    assert (dead.status, dead.attempts) == ("dead", 0)
    assert dead.last_error == "PermanentFailure: invalid_mjml: No."
    assert (deliveries(shop), events(shop), mails(mail_dir)) == ([], [], [])


def test_email_of_an_unknown_template_is_dead(shop, renderer, mail_dir, enqueue_email):
    dispatch = enqueue_email(shop, template_key="../settings")

    run_due()

    assert reread(shop, dispatch).status == "dead"
    assert (renderer.requests, deliveries(shop)) == ([], [])


def test_email_to_an_invalid_address_is_dead(shop, renderer, mail_dir, enqueue_email):
    dispatch = enqueue_email(shop, to_email="nobody")

    run_due()

    dead = reread(shop, dispatch)
    assert dead.status == "dead"
    assert dead.message["subject"] == "Your order 1001"
    assert (deliveries(shop), mails(mail_dir)) == ([], [])


def test_email_is_tried_again_when_it_cannot_be_handed_off(shop, renderer, mail_dir, enqueue_email):
    mail_dir.write_text("A file is where the folder should be.")
    dispatch = enqueue_email(shop)

    run_due()

    waiting = reread(shop, dispatch)
    assert (waiting.status, waiting.attempts) == ("pending", 1)
    assert waiting.last_error.startswith("ProviderUnavailable: ")
    assert waiting.message["html"] == "<p>Thank you</p>"
    assert deliveries(shop) == []


def test_email_waits_for_a_provider_that_is_busy(shop, renderer, resend, enqueue_email):
    shop.admin.put("settings.json", {"settings": RESEND})
    dispatch = enqueue_email(shop)
    resend.answers, resend.retry_after = [429], "20"
    began = timezone.now()

    run_due()

    waiting = reread(shop, dispatch)
    assert (waiting.status, waiting.attempts) == ("pending", 0)
    assert timedelta(seconds=20) <= waiting.due_at - began <= timedelta(seconds=41)
    assert "429" in waiting.last_error


def test_email_that_has_waited_for_a_day_is_tried_and_counted(shop, renderer, resend, enqueue_email):
    shop.admin.put("settings.json", {"settings": RESEND})
    dispatch = enqueue_email(shop)
    with shop.scope():
        OutboxDispatch.objects.update(created_at=timezone.now() - timedelta(days=2))
    resend.answers = [429]

    run_due()

    assert (reread(shop, dispatch).status, reread(shop, dispatch).attempts) == ("pending", 1)


def test_email_of_a_worker_that_was_lost_after_the_hand_off_is_one_message(
    shop, renderer, mail_dir, enqueue_email
):
    dispatch = enqueue_email(shop)
    lose_worker_after_hand_off(shop)
    (path,) = mail_dir.glob("*.eml")
    sent = path.read_bytes()
    end_lease(shop)
    renderer.answer["html"] = "<p>Another text</p>"

    run_due()

    assert len(renderer.requests) == 1
    assert [mail.read_bytes() for mail in mail_dir.glob("*.eml")] == [sent]
    assert [delivery.html for delivery in deliveries(shop)] == ["<p>Thank you</p>"]
    assert len(events(shop)) == 1
    assert (reread(shop, dispatch).status, reread(shop, dispatch).attempts) == ("succeeded", 1)


def test_email_that_was_sent_under_the_same_key_already_is_not_sent_again(
    shop, renderer, mail_dir, enqueue_email
):
    make_delivery(shop, idempotency_key="order.confirmation:1001")
    dispatch = enqueue_email(shop)

    run_due()

    assert reread(shop, dispatch).status == "succeeded"
    assert (renderer.requests, events(shop), mails(mail_dir)) == ([], [], [])
    assert len(deliveries(shop)) == 1


def test_emails_of_two_accounts_with_the_same_key_are_two_messages(
    shop, other_shop, renderer, mail_dir, enqueue_email
):
    enqueue_email(shop)
    enqueue_email(other_shop, to_email="bob@example.com")

    run_due()

    assert {mail["To"] for mail in mails(mail_dir)} == {"ann@example.com", "bob@example.com"}
    assert len(deliveries(shop)) == len(deliveries(other_shop)) == 1


def test_email_with_a_payload_of_the_bare_minimum_is_sent(shop, renderer, mail_dir):
    make_dispatch(
        shop,
        task_name="send_email",
        payload={"template_key": "order.confirmation", "to_email": "ann@example.com", "added_later": 1},
    )

    run_due()

    (delivery,) = deliveries(shop)
    assert (delivery.customer_id, delivery.reference_type, delivery.reference_id) == (None, None, None)
    assert delivery.ctx == {}


def test_message_that_was_stored_before_a_field_was_added_is_sent(shop, renderer, mail_dir, enqueue_email):
    dispatch = enqueue_email(shop)
    lose_worker_after_hand_off(shop)
    for path in mail_dir.iterdir():
        path.unlink()
    with shop.scope():
        message = OutboxDispatch.objects.get().message
        OutboxDispatch.objects.update(
            message={name: value for name, value in message.items() if name != "reply_to"},
            locked_until=timezone.now() - timedelta(seconds=1),
        )

    run_due()

    assert reread(shop, dispatch).status == "succeeded"
    assert len(mails(mail_dir)) == len(renderer.requests) == 1


def test_subject_that_an_older_release_rendered_is_recorded_shorter(shop, renderer, mail_dir, enqueue_email):
    renderer.answer["subject"] = "x" * 1200
    dispatch = enqueue_email(shop)

    run_due()

    assert reread(shop, dispatch).status == "succeeded"
    assert [delivery.subject for delivery in deliveries(shop)] == ["x" * 998]
    assert len(mails(mail_dir)) == 1

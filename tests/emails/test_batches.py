"""Messages of one account that are sent together."""

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.events.models import Event as FeedEvent
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from emails import handlers as email_handlers
from emails.models import EmailDelivery, MailServerRest
from emails.providers import ProviderDown
from emails.sender import Sender
from emails.shared_resting import ProviderResting, admit_shared, forget_shared
from tests.emails.batches import MANY, deliveries, ends, recipients, run_once
from tests.emails.json_server import Answer
from tests.factories import make_customer
from tests.tenancy.test_messages import messages

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick")]


def test_batch_sends_each_message_once_and_records_it(shop, renderer, own_resend, enqueue_several):
    customer = make_customer(shop)
    enqueue_several(shop, customer_id=customer.pk)

    run_once()

    addresses = [f"ann{n}@example.com" for n in range(MANY)]
    assert recipients(own_resend) == dict.fromkeys(addresses, 1)
    assert ends(shop) == [("succeeded", 0)] * MANY
    recorded = deliveries(shop)
    assert [delivery.to_email for delivery in recorded] == addresses
    by_key = {key.partition(":")[2]: message_id for key, message_id in own_resend.ids.items()}
    assert {one.idempotency_key: one.provider_message_id for one in recorded} == by_key
    assert {delivery.html for delivery in recorded} == {"<p>Thank you</p>"}
    with shop.scope():
        events = list(FeedEvent.objects.filter(type="email.sent").order_by("pk"))
    assert [event.data["email_delivery_id"] for event in events] == [str(one.pk) for one in recorded]


def test_batch_takes_as_many_messages_to_the_database_as_a_single_email(
    shop, renderer, own_resend, enqueue_several
):
    customer = make_customer(shop)
    enqueue_several(shop, 1, customer_id=customer.pk)
    with messages() as of_one:
        run_once()
    with shop.scope():
        OutboxDispatch.objects.all().delete()
        EmailDelivery.objects.all().delete()
    enqueue_several(shop, MANY, customer_id=customer.pk)
    with messages() as of_many:
        run_once()

    assert len(own_resend.received) == MANY
    # One more, as others of the queue are taken by a write, which has a COMMIT.
    assert len(of_many) - len(of_one) in (0, 1)


def test_message_that_is_refused_is_dead_and_the_others_are_sent(shop, renderer, own_resend, enqueue_several):
    enqueue_several(shop)
    own_resend.answers = [422]

    run_once()

    assert ends(shop) == [("dead", 0), *[("succeeded", 0)] * (MANY - 1)]
    assert len(deliveries(shop)) == MANY - 1
    assert recipients(own_resend) == {f"ann{n}@example.com": 1 for n in range(1, MANY)}


def test_messages_behind_one_that_gets_no_answer_wait_and_are_sent_as_they_were(
    shop, renderer, own_resend, enqueue_several
):
    enqueue_several(shop)
    own_resend.hangs_up = True

    run_once()

    # The first may have been sent. The others weren't tried, and the server rests.
    assert len(own_resend.requests) == 1
    assert ends(shop) == [("pending", 1), *[("pending", 0)] * (MANY - 1)]
    assert deliveries(shop) == []
    own_resend.hangs_up = False
    renderer.answer["html"] = "<p>Another text</p>"
    rendered = len(renderer.requests)
    for _ in range(3):
        with shop.scope():
            OutboxDispatch.objects.filter(status="pending").update(due_at=timezone.now())
        end_rest(shop)
        run_due()
    assert ends(shop) == [("succeeded", 1), *[("succeeded", 0)] * (MANY - 1)]
    assert {message["html"] for message in own_resend.received.values()} == {"<p>Thank you</p>"}
    assert len(renderer.requests) == rendered
    assert len(deliveries(shop)) == MANY


def end_rest(shop):
    with shop.scope():
        MailServerRest.objects.update(rests_until=timezone.now() - timedelta(seconds=1))


def test_after_a_rest_one_message_alone_is_tried(shop, renderer, own_resend, enqueue_several):
    enqueue_several(shop)
    own_resend.hangs_up = True
    run_once()
    end_rest(shop)
    with shop.scope():
        OutboxDispatch.objects.update(due_at=timezone.now())

    run_once()

    assert len(own_resend.requests) == 2
    assert deliveries(shop) == []


def test_slow_provider_gets_one_message_of_a_batch_at_a_time(
    shop, renderer, own_resend, enqueue_several, monkeypatch
):
    monkeypatch.setattr(email_handlers, "TOGETHER_S", 0)
    enqueue_several(shop, 3)

    run_once()

    assert len(own_resend.received) == 1
    assert sorted(ends(shop)) == [("pending", 0), ("pending", 0), ("succeeded", 0)]
    run_due()
    assert ends(shop) == [("succeeded", 0)] * 3
    assert len(own_resend.requests) == 3


@pytest.mark.parametrize(("honours_keys", "recorded"), [(True, [0, 0, 0]), (False, [0, 1, 2])])
def test_message_that_a_repeat_would_send_twice_is_recorded_before_the_next(
    shop, renderer, own_resend, enqueue_several, monkeypatch, honours_keys, recorded
):
    if not honours_keys:
        monkeypatch.setattr(email_handlers, "HONOURING_KEYS", set())
    seen = []

    take = own_resend.take

    def count_recorded(key, message):
        seen.append(len(deliveries(shop)))
        return take(key, message)

    own_resend.take = count_recorded
    enqueue_several(shop, 3)

    run_once()

    assert seen == recorded
    assert len(deliveries(shop)) == 3


def test_unwanted_and_sent_messages_of_a_batch_end_without_being_sent(
    shop, renderer, own_resend, enqueue_several, enqueue_email
):
    customer = make_customer(shop, notification_preferences={"order.confirmation": False})
    enqueue_several(shop, 2)
    enqueue_email(shop, key="unwanted", customer_id=customer.pk)
    run_due()
    with shop.scope():
        OutboxDispatch.objects.filter(idempotency_key="email-0").update(status="pending", finished_at=None)
        OutboxDispatch.objects.filter(idempotency_key="unwanted").update(status="pending", finished_at=None)
    enqueue_email(shop, key="another", to_email="bob@example.com")

    run_once()

    assert ends(shop) == [("succeeded", 0), ("succeeded", 0), ("skipped", 0), ("succeeded", 0)]
    assert recipients(own_resend) == {"ann0@example.com": 1, "ann1@example.com": 1, "bob@example.com": 1}
    assert len(own_resend.requests) == 3


def test_message_whose_template_is_refused_ends_alone(
    shop, renderer, own_resend, enqueue_several, enqueue_email
):
    enqueue_several(shop, 2)
    enqueue_email(shop, key="bad", ctx={"order": {"number": "bad"}})
    enqueue_email(shop, key="good", to_email="bob@example.com")
    reply = renderer.reply

    def refuse(request):
        if request.message["ctx"]["order"]["number"] == "bad":
            renderer.requests.append(request.message)
            return Answer(422, {"code": "template_syntax_error", "detail": "No.", "status": 422}, {})
        return reply(request)

    renderer.reply = refuse

    run_once()

    assert ends(shop) == [("succeeded", 0), ("succeeded", 0), ("dead", 0), ("succeeded", 0)]
    assert recipients(own_resend) == {"ann0@example.com": 1, "ann1@example.com": 1, "bob@example.com": 1}
    assert len(renderer.requests) == 4


def test_messages_rendered_before_the_renderer_got_busy_are_sent(shop, renderer, own_resend, enqueue_several):
    enqueue_several(shop, 4)

    def get_busy(_request):
        if len(renderer.requests) == 3:
            renderer.refuse(503, "renderer_busy")

    renderer.hold = get_busy

    run_once()

    assert ends(shop) == [("succeeded", 0), ("succeeded", 0), ("pending", 0), ("pending", 0)]
    assert len(renderer.requests) == 3
    with shop.scope():
        third, fourth = OutboxDispatch.objects.filter(status="pending").order_by("pk")
    assert (third.due_at > timezone.now(), fourth.due_at > timezone.now()) == (True, False)


def test_large_messages_are_sent_one_at_a_time(shop, renderer, own_resend, enqueue_several):
    renderer.answer["html"] = "x" * (email_handlers.MAX_CHARACTERS + 1)
    enqueue_several(shop, 3)

    run_once()

    assert sorted(ends(shop)) == [("pending", 0), ("pending", 0), ("succeeded", 0)]
    assert len(renderer.requests) == 1


def test_failure_of_the_shared_provider_is_not_forgotten_by_an_earlier_success(
    shop, renderer, mail_dir, enqueue_several, monkeypatch
):
    answers = iter(["id-1"])

    def hand_off(self, message, *, dispatch, among):
        for answer in answers:
            return answer
        raise ProviderDown("It can't be reached.")

    monkeypatch.setattr(Sender, "hand_off", hand_off)
    enqueue_several(shop, 4)

    run_once()

    assert sorted(ends(shop)) == [("pending", 0)] * 3 + [("succeeded", 0)]
    with pytest.raises(ProviderResting):
        admit_shared("local", now=timezone.now())
    forget_shared()

"""Messages of one account that are sent together."""

import time
from collections import Counter
from datetime import timedelta
from threading import Event
from types import SimpleNamespace

import pytest
from django.utils import timezone

from commerce.customers.operations.customers import redact_customer
from commerce.events.models import Event as FeedEvent
from commerce.outbox import crew, handlers, operations, runs
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from emails import handlers as email_handlers
from emails.models import EmailDelivery, MailServerRest
from emails.providers import ProviderDown
from emails.sender import Sender
from emails.shared_resting import ProviderResting, admit_shared, forget_shared
from tests.emails.json_server import Answer
from tests.factories import make_customer
from tests.tenancy.test_messages import messages
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)

MANY = email_handlers.AT_MOST


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Every queue counts as quick from the start."""
    monkeypatch.setattr(crew._Paces, "choose_size", lambda self, queue: handlers.largest_batch(queue[1]))


@pytest.fixture
def own_resend(shop, resend):
    """A double of Resend, which the shop has chosen."""
    own = {"commerce.email.provider": "resend", "commerce.email.api_key": "re_1"}
    assert shop.admin.put("settings.json", {"settings": own}).status_code == 200
    return resend


@pytest.fixture
def enqueue_several(enqueue_email):
    """Enqueue messages to `ann0@example.com` and so on."""

    def enqueue_several(shop, number=MANY, **payload):
        return [
            enqueue_email(shop, key=f"email-{n}", **{"to_email": f"ann{n}@example.com"} | payload)
            for n in range(number)
        ]

    return enqueue_several


def run_once():
    """Run one batch."""
    run_due(within=timedelta(0))


def ends(shop):
    with shop.scope():
        return list(OutboxDispatch.objects.order_by("pk").values_list("status", "attempts"))


def deliveries(shop):
    with shop.scope():
        return list(EmailDelivery.objects.order_by("pk"))


def recipients(resend):
    return Counter(message["to"][0] for message in resend.received.values())


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


def test_customer_who_is_redacted_while_a_batch_is_rendered_gets_nothing(
    shop, renderer, own_resend, enqueue_email
):
    ann, bob = make_customer(shop, email="ann@example.com"), make_customer(shop, email="bob@example.com")
    for customer in (ann, bob):
        enqueue_email(shop, key=f"email-{customer.pk}", to_email=customer.email, customer_id=customer.pk)

    def redact(_request):
        renderer.hold = lambda _request: None
        with shop.scope():
            redact_customer(customer_id=ann.pk, now=timezone.now())

    renderer.hold = redact

    run_once()

    assert recipients(own_resend) == {"bob@example.com": 1}
    assert sorted(ends(shop)) == [("skipped", 0), ("succeeded", 0)]
    with shop.scope():
        assert "ann@example.com" not in str(list(OutboxDispatch.objects.values()))
        assert [delivery.to_email for delivery in EmailDelivery.objects.all()] == ["bob@example.com"]


def test_customer_who_is_redacted_while_a_batch_is_handed_off_is_recorded_without_the_person(
    shop, renderer, own_resend, enqueue_email
):
    ann, bob = make_customer(shop, email="ann@example.com"), make_customer(shop, email="bob@example.com")
    for customer in (ann, bob):
        enqueue_email(shop, key=f"email-{customer.pk}", to_email=customer.email, customer_id=customer.pk)
    take = own_resend.take

    def redact(key, message):
        own_resend.take = take
        with shop.scope():
            redact_customer(customer_id=ann.pk, now=timezone.now())
        return take(key, message)

    own_resend.take = redact

    run_once()

    assert ends(shop) == [("succeeded", 0), ("succeeded", 0)]
    assert {one.to_email: one.html for one in deliveries(shop)} == {
        "": "",
        "bob@example.com": "<p>Thank you</p>",
    }


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


def test_words_of_a_provider_do_not_keep_the_address(shop, renderer, own_resend, enqueue_email):
    ann, bob = make_customer(shop, email="Ann@example.com"), make_customer(shop, email="bob@example.com")
    for customer in (ann, bob):
        enqueue_email(shop, key=f"email-{customer.pk}", to_email=customer.email, customer_id=customer.pk)
    own_resend.answers = [422]
    own_resend.words = "Ann@example.com (ann@example.com) is suppressed"
    take = own_resend.take

    def redact(key, message):
        # The first was refused, and isn't closed yet.
        if message["to"] == ["bob@example.com"]:
            with shop.scope():
                redact_customer(customer_id=ann.pk, now=timezone.now())
        return take(key, message)

    own_resend.take = redact

    run_once()

    assert ends(shop) == [("dead", 0), ("succeeded", 0)]
    with shop.scope():
        dead = OutboxDispatch.objects.get(status="dead")
        assert "ann@example.com" not in str(list(OutboxDispatch.objects.values())).lower()
    assert "is suppressed" in dead.last_error


def test_message_of_a_redacted_customer_is_not_kept_even_if_the_worker_is_lost(
    shop, renderer, own_resend, enqueue_email, monkeypatch
):
    customer = make_customer(shop, email="ann@example.com")
    enqueue_email(shop, key="email", to_email=customer.email, customer_id=customer.pk)

    def redact(_request):
        with shop.scope():
            redact_customer(customer_id=customer.pk, now=timezone.now())

    renderer.hold = redact
    # As if the process had ended before the batch was closed.
    monkeypatch.setattr(runs, "_close", lambda *_: True)
    monkeypatch.setattr(runs, "_release", lambda *_: None)

    run_once()

    with shop.scope():
        (left,) = OutboxDispatch.objects.all()
    assert (left.status, left.message) == ("processing", None)
    assert "to_email" not in left.payload


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


def test_redacted_customers_with_many_messages_cause_no_deadlock(shop, renderer, own_resend, enqueue_email):
    customers = [make_customer(shop, email=f"p{n}@example.com") for n in range(2)]
    with shop.scope():
        for customer in customers:
            redact_customer(customer_id=customer.pk, now=timezone.now())
    for round_ in range(6):
        for n in range(32):
            enqueue_email(shop, key=f"{round_}-{n}", customer_id=customers[n % 2].pk)
        run_threads(6, lambda _index: run_due(within=timedelta(minutes=1)))

    # Erasing cancels those that wait.
    assert set(ends(shop)) <= {("skipped", 0), ("cancelled", 0)}
    with shop.scope():
        assert "example.com" not in str(list(OutboxDispatch.objects.values()))


def test_redaction_waits_for_claims_that_are_renewed(shop, renderer, own_resend, enqueue_email, monkeypatch):
    """The worker's clock is ahead, so it renews its claims. Meanwhile all dispatches of the customer are erased."""
    customer = make_customer(shop, email="ann@example.com")
    for n in range(3):
        enqueue_email(shop, key=f"email-{n}", to_email=customer.email, customer_id=customer.pk)
    ahead = SimpleNamespace(now=lambda: timezone.now() + timedelta(seconds=40))
    monkeypatch.setattr(operations, "timezone", ahead)
    find_held, is_redacting = operations._find_held, Event()

    def find_held_slowly(*args):
        is_redacting.set()
        time.sleep(0.3)
        return find_held(*args)

    monkeypatch.setattr(operations, "_find_held", find_held_slowly)

    def work(index):
        if index == 0:
            run_once()
            return
        assert is_redacting.wait(30)
        with shop.scope():
            redact_customer(customer_id=customer.pk, now=timezone.now())

    run_threads(2, work)

    assert {attempts for _, attempts in ends(shop)} == {0}
    with shop.scope():
        assert "ann@example.com" not in str(list(OutboxDispatch.objects.values()))

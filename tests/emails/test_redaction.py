"""Redacting a customer before, after and while messages are sent."""

import pytest
from django.utils import timezone

from commerce.customers.operations import redact_customer
from commerce.events.models import Event
from commerce.outbox.claims import claim_dispatches
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from emails import sender
from emails.models import EmailDelivery
from tests.factories import make_customer, make_delivery, make_dispatch
from tests.problems import problem
from tests.threads import run_threads

PERSON = "ann@example.com"


def redact(shop, customer):
    with shop.scope():
        redact_customer(customer_id=customer.pk, now=timezone.now())


def stored(shop):
    """Return everything that the account stores about messages, as text."""
    with shop.scope():
        return [
            list(model.objects.order_by("pk").values()) for model in (EmailDelivery, OutboxDispatch, Event)
        ]


def dispatch_of(shop, customer, **fields):
    payload = {
        "template_key": "order.confirmation",
        "to_email": PERSON,
        "customer_id": customer.pk,
        "locale": "de-DE",
        "ctx": {"name": PERSON},
        "reference_type": "order",
        "reference_id": 7,
    }
    message = {"html": PERSON}
    return make_dispatch(shop, task_name="send_email", payload=payload, message=message, **fields)


@pytest.fixture
def customer(shop):
    return make_customer(shop, email=PERSON)


def test_deliveries_of_the_customer_are_emptied_and_stay(shop, customer):
    delivery = make_delivery(shop, customer=customer, status="opened", html=PERSON, ctx={"a": PERSON})
    other = make_delivery(shop, customer=make_customer(shop))

    response = shop.admin.post(f"customers/{customer.pk}/redact.json")

    assert response.status_code == 200
    with shop.scope():
        emptied = EmailDelivery.objects.get(pk=delivery.pk)
        assert EmailDelivery.objects.get(pk=other.pk).html == other.html
    assert (emptied.to_email, emptied.subject, emptied.html, emptied.text, emptied.ctx) == (
        "",
        "",
        "",
        "",
        {},
    )
    assert (emptied.customer_id, emptied.status) == (customer.pk, "opened")
    assert shop.admin.get(f"email/deliveries/{delivery.pk}.json?include_body=true").status_code == 200


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("pending", "cancelled"),
        ("processing", "processing"),
        ("dead", "dead"),
        ("succeeded", "succeeded"),
        ("skipped", "skipped"),
    ],
)
def test_dispatches_to_the_customer_are_emptied_and_those_that_wait_called_off(
    shop, customer, status, expected
):
    dispatch = dispatch_of(shop, customer, status=status, last_error=f"Refused: {PERSON}")

    redact(shop, customer)

    with shop.scope():
        emptied = OutboxDispatch.objects.get(pk=dispatch.pk)
    assert emptied.status == expected
    assert (emptied.finished_at is not None) == (status == "pending")
    assert (emptied.message, emptied.last_error) == (None, "")
    assert emptied.payload == {
        "template_key": "order.confirmation",
        "customer_id": customer.pk,
        "reference_type": "order",
        "reference_id": 7,
    }


def test_dispatches_to_others_and_of_other_tasks_stay(shop, other_shop, customer):
    kept = [
        dispatch_of(shop, make_customer(shop)),
        make_dispatch(shop, task_name="other", payload={"customer_id": customer.pk, "to_email": "x"}),
        make_dispatch(other_shop, task_name="send_email", payload={"customer_id": customer.pk, "ctx": {}}),
    ]

    redact(shop, customer)

    for owner, dispatch in zip((shop, shop, other_shop), kept, strict=True):
        with owner.scope():
            unchanged = OutboxDispatch.objects.get(pk=dispatch.pk)
        assert (unchanged.status, unchanged.payload) == ("pending", dispatch.payload)


def test_dispatch_enqueued_while_the_person_was_erased_is_emptied_when_it_is_run(
    shop, customer, renderer, mail_dir
):
    redact(shop, customer)
    dispatch = dispatch_of(shop, customer)

    run_due()

    with shop.scope():
        skipped = OutboxDispatch.objects.get(pk=dispatch.pk)
    assert (skipped.status, skipped.message) == ("skipped", None)
    assert PERSON not in str(stored(shop))
    assert renderer.requests == []


def test_message_that_is_being_sent_is_recorded_without_the_person(
    shop, customer, renderer, mail_dir, monkeypatch
):
    dispatch_of(shop, customer)
    hand_off = sender.Sender.hand_off

    def hand_off_while_redacted(self, message, *, dispatch, among):
        redact(shop, customer)
        return hand_off(self, message, dispatch=dispatch, among=among)

    with shop.scope():
        OutboxDispatch.objects.update(message=None)
    monkeypatch.setattr(sender.Sender, "hand_off", hand_off_while_redacted)

    run_due()

    assert PERSON not in str(stored(shop))
    with shop.scope():
        delivery = EmailDelivery.objects.get()
        assert OutboxDispatch.objects.get().status == "succeeded"
    assert (delivery.customer_id, delivery.html, delivery.ctx) == (customer.pk, "", {})


def redact_while_it_renders(shop, customer, monkeypatch):
    render = sender.Sender.render

    def render_while_redacted(self, request, draft):
        redact(shop, customer)
        return render(self, request, draft)

    monkeypatch.setattr(sender.Sender, "render", render_while_redacted)


def test_message_that_is_being_rendered_is_not_sent(shop, customer, renderer, mail_dir, monkeypatch):
    redact_while_it_renders(shop, customer, monkeypatch)
    dispatch_of(shop, customer)
    with shop.scope():
        OutboxDispatch.objects.update(message=None)

    run_due()

    with shop.scope():
        assert OutboxDispatch.objects.get().status == "skipped"
    assert PERSON not in str(stored(shop))
    assert not mail_dir.exists()


def test_message_that_a_request_renders_is_not_sent(shop, customer, renderer, mail_dir, monkeypatch):
    redact_while_it_renders(shop, customer, monkeypatch)
    body = {"template_key": "order.confirmation", "customer_id": customer.pk, "idempotency_key": "a"}

    response = shop.admin.post("email/send.json", body)

    assert problem(response) == (409, "customer_redacted")
    assert stored(shop) == [[], [], []]
    assert not mail_dir.exists()


@pytest.mark.django_db(transaction=True)
def test_redactions_and_sends_at_once_leave_nothing_of_the_person(shop, renderer, mail_dir):
    for round_number in range(5):
        customer = make_customer(shop, email=f"{round_number}-{PERSON}")
        for number in range(4):
            dispatch = dispatch_of(shop, customer, idempotency_key=f"{round_number}:{number}")
            with shop.scope():
                OutboxDispatch.objects.filter(pk=dispatch.pk).update(message=None)

        def work(index, customer=customer):
            return redact(shop, customer) if index == 2 else run_due()

        results = run_threads(3, work)

        assert [result for result in results if isinstance(result, Exception)] == []
        run_due()
        assert PERSON not in str(stored(shop))


def test_redaction_locks_dispatches_before_deliveries(shop, customer, django_assert_num_queries):
    """A worker locks in the same order, so that neither waits for the other for ever."""
    dispatch_of(shop, customer)
    claim_dispatches()

    with shop.scope(), django_assert_num_queries(5) as queries:
        redact_customer(customer_id=customer.pk, now=timezone.now())

    lock, *updates = [query["sql"] for query in queries.captured_queries[:4]]
    assert 'FROM "outbox_dispatches"' in lock
    assert lock.endswith("FOR NO KEY UPDATE")
    tables = [update.split("UPDATE")[1].split()[0].strip('"') for update in updates]
    assert tables == ["outbox_dispatches", "email_deliveries", "customers"]

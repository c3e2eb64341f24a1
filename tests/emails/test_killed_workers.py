"""Workers are killed with SIGKILL while they send: every message is sent once, and none is left.

For the figures of docs/performance.md, which takes minutes: EMAILS=20000 pytest -s --timeout=0 tests/emails/test_killed_workers.py
"""

import json
import os
import time
from collections import Counter

import psycopg
import pytest
from django.db.models import Count, Q
from django.utils import timezone

from commerce.outbox.claims import LEASE
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import enqueue_many
from emails.models import EmailDelivery
from tests.emails.workforce import working

pytestmark = pytest.mark.django_db(transaction=True)

EMAILS = int(os.environ.get("EMAILS", "200"))
WORKERS = 4
THREADS = os.environ.get("THREADS", "12")
KILL_EVERY_S = 1.0
PROVIDER_TAKES_S = 0.05
# Workers look for work again and again. After so long, each has found that there is none.
LOOKED_S = 2.0
# As in an installation (config/stack/postgres.py). In tests, autovacuum is off.
VACUUM_EVERY_S = 15.0


@pytest.fixture(params=["installation", "account"])
def owner(request):
    """Whose provider it is. Messages for an account's own get a part of the threads only."""
    return request.param


@pytest.fixture
def mail_shop(shop, resend, owner):
    """A shop whose provider is slow, and honours idempotency keys."""
    resend.delay_s = PROVIDER_TAKES_S
    if owner == "account":
        own = {"commerce.email.provider": "resend", "commerce.email.api_key": "re_1"}
        assert shop.admin.put("settings.json", {"settings": own}).status_code == 200
    return shop


@pytest.fixture
def workforce(renderer, resend, owner, tmp_path):
    places = {
        "OUTBOX_THREADS": THREADS,
        "RENDERER_URL": renderer.url,
        "ANYMAIL": f"RESEND_API_URL={resend.url}",
    }
    if owner == "installation":
        places |= {"COMMERCE_EMAIL_PROVIDER": "resend", "COMMERCE_EMAIL_API_KEY": "re_1"}
    with working(WORKERS, log=tmp_path / "begun", environment=places) as workforce:
        yield workforce


@pytest.mark.parametrize("is_deadly", [False, True])
def test_every_message_reaches_the_provider_once(mail_shop, resend, workforce, is_deadly):
    kills = 0
    began = time.monotonic()
    enqueue_emails(mail_shop, EMAILS)
    vacuumed = time.monotonic()
    while counts(mail_shop)["pending"]:
        time.sleep(KILL_EVERY_S)
        if time.monotonic() - vacuumed > VACUUM_EVERY_S:
            vacuum()
            vacuumed = time.monotonic()
        if is_deadly:
            workforce.kill_one()
            kills += 1
    sent, elapsed_s = len(resend.received), time.monotonic() - began
    waited = wait_for_the_rest(mail_shop, is_deadly=is_deadly)

    assert counts(mail_shop) == {"succeeded": EMAILS, "pending": 0, "processing": 0}
    assert len(resend.received) == EMAILS
    recipients = Counter(message["to"][0] for message in resend.received.values())
    assert set(recipients.values()) == {1}
    with mail_shop.scope():
        assert EmailDelivery.objects.count() == EMAILS
    repeated = len(resend.requests) - EMAILS
    if not is_deadly:
        assert repeated == 0
    figures = {"kills": kills, "emails/s": sent / elapsed_s, "leases": waited, "repeated": repeated}
    print(json.dumps(figures))  # noqa: T201  for the document


def vacuum():
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("VACUUM (ANALYZE) outbox_dispatches, email_deliveries, events")


def enqueue_emails(shop, number):
    payload = {
        "template_key": "order.confirmation",
        "customer_id": None,
        "locale": "en",
        "ctx": {"order": {"number": "1001"}},
        "reference_type": "order",
    }
    for first in range(0, number, 1000):
        payloads = {
            f"order.confirmation/{n}": payload | {"to_email": f"ann{n}@example.com", "reference_id": n}
            for n in range(first, min(first + 1000, number))
        }
        with shop.scope():
            enqueue_many(task_name="send_email", payloads=payloads, now=timezone.now())


def counts(shop):
    with shop.scope():
        return OutboxDispatch.objects.aggregate(
            **{
                status: Count("pk", filter=Q(status=status))
                for status in ("pending", "processing", "succeeded")
            }
        )


def wait_for_the_rest(shop, *, is_deadly):
    """Free what killed workers held, rather than wait five minutes for it. Return how many dispatches that was."""
    time.sleep(LOOKED_S)
    held = 0
    if is_deadly:
        with shop.scope():
            stuck = OutboxDispatch.objects.filter(status="processing")
            held = stuck.update(locked_until=timezone.now() - LEASE)
    while (left := counts(shop))["pending"] + left["processing"]:
        time.sleep(LOOKED_S / 10)
    return held

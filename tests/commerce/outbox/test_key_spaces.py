"""Keys chosen by clients never collide with the product's own. For emails, see tests/emails/test_key_spaces.py."""

import psycopg
from django.utils import timezone

from commerce.outbox.operations import enqueue_held
from tests.migrations import migrate, scratch  # noqa: F401  a fixture

NOW = timezone.now()
TOKEN = "a1" * 16


def test_key_of_a_client_is_taken_once(shop):
    with shop.scope():
        first = enqueue_held(task_name="example", payload={}, idempotency_key="a", now=NOW)
        second = enqueue_held(task_name="example", payload={}, idempotency_key="a", now=NOW)

    assert (first.key_space, second) == ("caller", None)


OLD_ROWS = {
    ("send_email", "order-1"): "caller",
    ("send_email", "refund_payment/7"): "caller",
    ("send_email", "webhook/1/2"): "caller",
    ("send_email", "order.confirmation/1001"): "caller",
    ("send_email", f"order.confirmation/{TOKEN}"): "product",
    ("send_email", "order.shipped/again/7/0b8f6a4e-7f0e-4d4e-9d0a-3f7c5d3f1a2b"): "product",
    ("send_email", "voucher.issued/7/2026-11-20T09:30:00.123456Z"): "product",
    ("send_email", "email_template_test/0b8f6a4e-7f0e-4d4e-9d0a-3f7c5d3f1a2b"): "product",
    ("refund_payment", "refund_payment/8"): "product",
    ("deliver_webhook", "webhook/3/4"): "product",
}
INSERT = """
    INSERT INTO outbox_dispatches (account_id, dispatch_type, target, payload, payload_version, idempotency_key,
        status, attempts, max_attempts, due_at, last_error, created_at)
    VALUES (1, 'task', jsonb_build_object('task_name', %s::text), '{}', 1, %s, 'pending', 0, 5, now(), '', now())
"""
ACCOUNT = """
    INSERT INTO workspaces (id, name, created_at) VALUES (gen_random_uuid(), 'One', now());
    INSERT INTO accounts (id, workspace_id, handle, name, status, default_currency, default_locale,
        default_timezone, version, created_at, updated_at)
    SELECT 1, id, 'one', 'One', 'active', 'EUR', 'en-US', 'UTC', 1, now(), now() FROM workspaces;
"""
SPACES = "SELECT target->>'task_name', idempotency_key, key_space FROM outbox_dispatches"


def test_rows_of_before_get_their_space_and_so_do_those_of_old_processes(scratch):  # noqa: F811
    migrate(scratch, "webhooks", "0001")
    migrate(scratch, "emails", "0004")
    migrate(scratch, "outbox", "0003")
    with psycopg.connect(scratch["superuser"], autocommit=True) as superuser:
        superuser.execute(ACCOUNT)
        superuser.cursor().executemany(INSERT, list(OLD_ROWS))

        migrate(scratch)

        rows = superuser.execute(SPACES).fetchall()
        assert {(task, key): space for task, key, space in rows} == OLD_ROWS
        superuser.execute("DELETE FROM outbox_dispatches")
        superuser.cursor().executemany(INSERT, list(OLD_ROWS))
        rows = superuser.execute(SPACES).fetchall()
        assert {(task, key): space for task, key, space in rows} == OLD_ROWS
        forced = "SELECT relforcerowsecurity FROM pg_class WHERE relname IN ('outbox_dispatches', 'email_deliveries')"
        assert superuser.execute(forced).fetchall() == [(True,), (True,)]

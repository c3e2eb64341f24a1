from datetime import UTC, datetime

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import enqueue

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def test_enqueue_is_one_statement(shop, django_assert_num_queries):
    with shop.scope(), django_assert_num_queries(1):
        enqueue(task_name="example", payload={"a": 1}, idempotency_key="a:1", now=NOW)

    with shop.scope():
        dispatch = OutboxDispatch.objects.get()
    assert dispatch.target == {"task_name": "example"}
    assert dispatch.dispatch_type == "task"
    assert dispatch.payload == {"a": 1}
    assert dispatch.payload_version == 1
    assert dispatch.status == "pending"
    assert dispatch.attempts == 0
    assert dispatch.max_attempts == 5
    assert dispatch.due_at == NOW


def test_enqueue_with_a_used_key_makes_no_second_dispatch(shop):
    with shop.scope():
        enqueue(task_name="example", payload={"a": 1}, idempotency_key="a:1", now=NOW)

        enqueue(task_name="other", payload={"a": 2}, idempotency_key="a:1", now=NOW)

        assert [row.payload for row in OutboxDispatch.objects.all()] == [{"a": 1}]


def test_enqueue_with_a_key_of_another_account_makes_a_dispatch(shop, other_shop):
    with shop.scope():
        enqueue(task_name="example", payload={}, idempotency_key="a:1", now=NOW)

    with other_shop.scope():
        enqueue(task_name="example", payload={}, idempotency_key="a:1", now=NOW)

        assert OutboxDispatch.objects.count() == 1

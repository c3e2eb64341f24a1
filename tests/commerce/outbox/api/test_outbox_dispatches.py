from datetime import UTC, datetime

import pytest

from commerce.outbox.models import OutboxDispatch
from tests.factories import make_dispatch

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def list_ids(client, query=""):
    return [row["id"] for row in client.get(f"outbox_dispatches.json{query}").json()["outbox_dispatches"]]


def test_dispatch_shows_its_whole_state(shop):
    dispatch = make_dispatch(
        shop,
        task_name="send_email",
        payload={"template_key": "order.confirmation"},
        idempotency_key="order.confirmation:1001",
        due_at=NOW,
        attempts=2,
        last_error="RendererUnavailable: no answer",
        message={"html": "<p>Thank you</p>"},
    )

    response = shop.admin.get(f"outbox_dispatches/{dispatch.pk}.json")

    shown = response.json()["outbox_dispatch"]
    assert response.status_code == 200
    assert shown.pop("created_at").endswith("Z")
    assert shown == {
        "id": str(dispatch.pk),
        "dispatch_type": "task",
        "target": {"task_name": "send_email"},
        "payload": {"template_key": "order.confirmation"},
        "payload_version": 1,
        "idempotency_key": "order.confirmation:1001",
        "status": "pending",
        "attempts": 2,
        "max_attempts": 5,
        "due_at": "2026-11-20T09:30:00Z",
        "locked_until": None,
        "last_error": "RendererUnavailable: no answer",
        "finished_at": None,
    }


def test_dispatches_come_newest_first_and_page_by_page(shop):
    made = [str(make_dispatch(shop).pk) for _ in range(3)]

    first = shop.admin.get("outbox_dispatches.json?limit=2").json()
    second = shop.admin.get(f"outbox_dispatches.json?limit=2&cursor_id={first['next_cursor_id']}").json()

    assert [row["id"] for row in first["outbox_dispatches"]] == [made[2], made[1]]
    assert [row["id"] for row in second["outbox_dispatches"]] == [made[0]]
    assert second["next_cursor_id"] is None


def test_dispatches_filtered_by_status_and_task(shop):
    dead = make_dispatch(shop, status="dead", task_name="send_email")
    make_dispatch(shop, status="dead", task_name="other")
    make_dispatch(shop, task_name="send_email")

    assert list_ids(shop.admin, "?status=dead&task_name=send_email") == [str(dead.pk)]


@pytest.mark.parametrize("query", ["status=unheard-of", "status=", "task_name=%00", "limit=0", "cursor_id=x"])
def test_dispatches_with_a_query_that_means_nothing_are_refused(shop, query):
    response = shop.admin.get(f"outbox_dispatches.json?{query}")

    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == query.partition("=")[0]


def test_dispatch_of_another_account_is_not_found(shop, other_shop):
    dispatch = make_dispatch(other_shop, status="dead")

    assert list_ids(shop.admin) == []
    assert shop.admin.get(f"outbox_dispatches/{dispatch.pk}.json").status_code == 404
    assert shop.admin.post(f"outbox_dispatches/{dispatch.pk}/retry.json").status_code == 404
    with other_shop.scope():
        assert OutboxDispatch.objects.get().status == "dead"


@pytest.mark.parametrize("number", [1, 3])
def test_dispatches_take_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    for _ in range(number):
        make_dispatch(shop)
    shop.admin.get("outbox_dispatches.json")

    with django_assert_num_queries(5):
        assert len(list_ids(shop.admin)) == number

from datetime import UTC, datetime

import pytest

from commerce.events.models import Event
from commerce.events.operations import publish
from config.versions import CURRENT_VERSION

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def make_event(shop, name="order.paid", **data):
    with shop.scope():
        publish(type=name, data=data, now=NOW)
        return Event.objects.latest("pk")


def test_events_carry_their_envelope(shop):
    event = make_event(shop, order_id="7")

    response = shop.admin.get("events.json")

    assert response.status_code == 200
    assert response.json() == {
        "events": [
            {
                "id": str(event.pk),
                "type": "order.paid",
                "api_version": CURRENT_VERSION,
                "account_id": str(shop.id),
                "occurred_at": "2026-11-20T09:30:00Z",
                "data": {"order_id": "7"},
            }
        ],
        "next_cursor_id": None,
    }


def test_events_come_oldest_first_and_page_by_page(shop):
    made = [str(make_event(shop).pk) for _ in range(3)]

    first = shop.admin.get("events.json?limit=2").json()
    second = shop.admin.get(f"events.json?limit=2&cursor_id={first['next_cursor_id']}").json()

    assert [event["id"] for event in first["events"]] == made[:2]
    assert first["next_cursor_id"] == made[1]
    assert [event["id"] for event in second["events"]] == made[2:]
    assert second["next_cursor_id"] is None


def test_events_are_followed_by_the_last_id_read(shop):
    last = make_event(shop)
    assert shop.admin.get(f"events.json?cursor_id={last.pk}").json()["events"] == []

    newer = make_event(shop)

    page = shop.admin.get(f"events.json?cursor_id={last.pk}").json()
    assert [event["id"] for event in page["events"]] == [str(newer.pk)]


def test_events_filtered_by_type(shop):
    make_event(shop, "order.cancelled")
    paid = make_event(shop, "order.paid")

    page = shop.admin.get("events.json?type=order.paid").json()

    assert [event["id"] for event in page["events"]] == [str(paid.pk)]
    assert shop.admin.get("events.json?type=order.closed").json()["events"] == []


def test_events_of_another_account_are_not_shown(shop, other_shop):
    make_event(other_shop)

    assert shop.admin.get("events.json").json()["events"] == []


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "cursor_id=-1", "cursor_id=x", "type=%00", "type="])
def test_events_with_a_query_that_means_nothing_are_refused(shop, query):
    response = shop.admin.get(f"events.json?{query}")

    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == query.partition("=")[0]


def test_events_need_their_scope(shop):
    assert shop.client_with("read_events").get("events.json").status_code == 200

    response = shop.client_with("read_orders").get("events.json")

    assert response.status_code == 403
    assert response.json()["code"] == "insufficient_scope"


@pytest.mark.parametrize("number", [1, 3])
def test_events_take_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    for _ in range(number):
        make_event(shop)
    shop.admin.get("events.json")

    with django_assert_num_queries(6):
        assert len(shop.admin.get("events.json").json()["events"]) == number

"""orders/{id}.json and its actions; storefront orders/{token}.json."""

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from commerce.customers.models import Customer
from commerce.customers.queries import with_spending
from commerce.inventory.models import InventoryLevel
from commerce.orders import cancellation
from commerce.orders.operations import mark_order_refunded
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.commerce.orders.api.placing import get_order, place
from tests.problems import problem
from tests.storefront import EMAIL, checkout_in

PARCEL = {"carrier": "DHL", "tracking_number": "JD0146", "tracking_url": "https://track.example.com/JD0146"}


def stock(shop):
    with shop.scope():
        return InventoryLevel.objects.values_list("on_hand", "reserved", "committed").get()


def act(shop, order, action, body=None):
    return shop.admin.post(f"orders/{order['id']}/{action}.json", body)


def statuses(answer):
    order = answer.json()["order"]
    return order["status"], order["payment_status"], order["fulfillment_status"]


def emails(shop):
    """Return the payloads of waiting emails by template."""
    with shop.scope():
        payloads = list(OutboxDispatch.objects.order_by("pk").values_list("payload", flat=True))
    assert max(Counter(payload["template_key"] for payload in payloads).values()) == 1
    return {payload["template_key"]: payload for payload in payloads}


def customer_figures(shop):
    with shop.scope():
        return with_spending(Customer.objects.all()).values_list("orders_count", "total_spent_cents").get()


def event_types(shop):
    return [event["type"] for event in shop.admin.get("events.json").json()["events"]]


def test_order_shows_what_was_bought(shop, order):
    assert (order["number"], order["email"], order["currency"]) == ("1001", EMAIL, "EUR")
    assert (order["status"], order["payment_status"], order["fulfillment_status"]) == (
        "open",
        "pending",
        "unfulfilled",
    )
    assert order["billing_address"] == order["shipping_address"]
    assert order["shipping_method"]["rate_id"]
    assert [line["quantity"] for line in order["line_items"]] == [2]


def test_order_is_shown_to_whoever_holds_its_token(shop, other_shop, order):
    answer = shop.storefront.get(f"orders/{order['token']}.json")

    assert answer.json()["order"] == {key: value for key, value in order.items() if key != "cancel_reason"}
    assert shop.storefront.get("orders/nothing.json").status_code == 404
    assert other_shop.storefront.get(f"orders/{order['token']}.json").status_code == 404


def test_customer_follows_the_parcel_and_does_not_read_why_an_order_was_cancelled(shop, order):
    other = place(shop)
    act(shop, order, "fulfill", PARCEL)
    act(shop, other, "cancel", {"reason": "Looks like fraud"})

    fulfilled, cancelled = (shop.storefront.get(f"orders/{row['token']}.json") for row in (order, other))

    assert fulfilled.json()["order"].items() >= PARCEL.items()
    assert cancelled.json()["order"]["status"] == "cancelled"
    assert b"fraud" not in cancelled.content


def test_cancelling_frees_the_stock_once(shop, order):
    first = act(shop, order, "cancel", {"reason": "Changed her mind"})
    second = act(shop, order, "cancel", {"reason": "Another one"})

    assert (first.status_code, statuses(first)) == (200, ("cancelled", "pending", "unfulfilled"))
    assert first.json()["order"]["cancel_reason"] == "Changed her mind"
    assert second.json() == first.json()
    assert stock(shop) == (5, 0, 0)
    assert event_types(shop).count("order.cancelled") == 1


def test_cancelling_lowers_the_figures_of_the_customer_once(shop, order):
    before = customer_figures(shop)

    act(shop, order, "cancel")
    act(shop, order, "cancel")

    assert before == (1, int(order["totals"]["total_cents"]))
    assert customer_figures(shop) == (0, 0)


@pytest.mark.parametrize("reason", ["", None])
def test_order_is_cancelled_without_a_reason(shop, order, reason):
    assert act(shop, order, "cancel", {"reason": reason}).json()["order"]["cancel_reason"] is None


def test_cancelling_tells_the_customer(shop, order):
    act(shop, order, "cancel", {"reason": "Looks like fraud"})
    act(shop, order, "cancel")

    email = emails(shop)["order.cancelled"]
    assert (email["to_email"], email["locale"]) == (EMAIL, "de-DE")
    assert (email["reference_type"], str(email["reference_id"])) == ("order", order["id"])
    assert str(email["customer_id"]) == order["customer_id"]
    assert email["ctx"]["order"]["number"] == "1001"
    assert "fraud" not in str(email)


def test_steps_of_other_apps_run_once_for_each_cancellation(shop, order, monkeypatch):
    seen = []
    monkeypatch.setattr(cancellation, "_steps", [])
    cancellation.on_cancellation(lambda cancelled: seen.append(("first", cancelled)))
    cancellation.on_cancellation(lambda cancelled: seen.append(("second", cancelled)))

    act(shop, order, "cancel")
    act(shop, order, "cancel")

    assert [name for name, _ in seen] == ["first", "second"]
    assert {str(cancelled.order.pk) for _, cancelled in seen} == {order["id"]}
    assert {cancelled.actor.partition(":")[0] for _, cancelled in seen} == {"key"}


def test_cancellation_is_undone_when_a_step_fails(shop, order, monkeypatch):
    def fail(cancelled):
        raise RuntimeError("The ledger is closed.")

    monkeypatch.setattr(cancellation, "_steps", [fail])

    answer = act(shop, order, "cancel")

    assert answer.status_code == 500
    assert get_order(shop, order["id"]) == order
    assert stock(shop) == (5, 0, 2)
    assert customer_figures(shop)[0] == 1
    assert set(emails(shop)) == {"order.confirmation"}


def test_money_that_came_by_hand_is_returned_with_the_cancellation(shop, order):
    act(shop, order, "mark_paid")

    answer = act(shop, order, "cancel")

    assert statuses(answer) == ("cancelled", "refunded", "unfulfilled")
    assert answer.json()["order"]["refunded_at"] == answer.json()["order"]["cancelled_at"]
    assert emails(shop)["order.cancelled"]["ctx"]["order"]["payment_status"] == "refunded"


def test_fulfilling_takes_the_units_out_once(shop, order):
    first, second = act(shop, order, "fulfill", PARCEL), act(shop, order, "fulfill", {"carrier": "GLS"})

    assert (first.status_code, statuses(first)) == (200, ("open", "pending", "fulfilled"))
    assert first.json()["order"].items() >= PARCEL.items()
    assert second.json() == first.json()
    assert stock(shop) == (3, 0, 0)
    assert event_types(shop).count("order.fulfilled") == 1


def test_fulfilling_tells_the_customer_how_to_follow_the_parcel(shop, order):
    act(shop, order, "fulfill", PARCEL)
    act(shop, order, "fulfill")

    email = emails(shop)["order.shipped"]
    assert email["to_email"] == EMAIL
    assert email["ctx"]["order"].items() >= PARCEL.items()
    assert [line["quantity"] for line in email["ctx"]["order"]["line_items"]] == [2]


@pytest.mark.parametrize("body", [None, {}, {"carrier": "", "tracking_number": None, "tracking_url": None}])
def test_order_is_fulfilled_without_tracking(shop, order, body):
    answer = act(shop, order, "fulfill", body)

    assert statuses(answer)[2] == "fulfilled"
    assert answer.json()["order"].items() >= dict.fromkeys(PARCEL).items()


@pytest.mark.parametrize(
    "body",
    [
        {"carrier": "x" * 65},
        {"carrier": 1},
        {"tracking_number": "x" * 101},
        {"tracking_number": "a\x00b"},
        {"tracking_url": "javascript:alert(1)"},
        {"tracking_url": "track.example.com"},
        {"tracking_url": ""},
        {"tracking_url": "https://example.com/" + "x" * 2048},
    ],
    ids=str,
)
def test_parcel_with_a_bad_field_is_refused(shop, order, body):
    answer = act(shop, order, "fulfill", body)

    assert problem(answer) == (422, "validation_failed")
    assert [error["field"] for error in answer.json()["errors"]] == list(body)
    assert get_order(shop, order["id"]) == order


@pytest.mark.parametrize("reason", [1, True, [], "x" * 1001, "a\x00b"], ids=lambda reason: str(reason)[:9])
def test_bad_reason_is_refused(shop, order, reason):
    answer = act(shop, order, "cancel", {"reason": reason})

    assert problem(answer) == (422, "validation_failed")
    assert get_order(shop, order["id"]) == order


def test_parcel_may_leave_before_the_money_has_come(shop):
    order = place(shop, payment_method="bank_transfer")

    sent = act(shop, order, "fulfill")

    assert (sent.status_code, statuses(sent)) == (200, ("open", "pending", "fulfilled"))
    assert statuses(act(shop, order, "mark_paid")) == ("closed", "paid", "fulfilled")


def test_money_is_noted_once(shop, order):
    first, second = act(shop, order, "mark_paid"), act(shop, order, "mark_paid")

    assert (first.status_code, statuses(first)) == (200, ("open", "paid", "unfulfilled"))
    assert second.json() == first.json()
    assert event_types(shop).count("order.paid") == 1


@pytest.mark.parametrize("actions", [("mark_paid", "fulfill"), ("fulfill", "mark_paid")])
def test_order_that_is_paid_and_fulfilled_is_closed(shop, order, actions):
    first, second = (act(shop, order, action) for action in actions)

    assert statuses(first)[0] == "open"
    assert statuses(second) == ("closed", "paid", "fulfilled")
    again = [act(shop, order, action).json() for action in actions]
    assert again == [second.json()] * 2
    assert problem(act(shop, order, "cancel")) == (409, "order_not_open")


@pytest.mark.parametrize("action", ["mark_paid", "fulfill"])
@pytest.mark.parametrize("is_paid", [False, True])
def test_cancelled_order_changes_no_more(shop, order, action, is_paid):
    if is_paid:
        act(shop, order, "mark_paid")
    cancelled = act(shop, order, "cancel").json()

    answer = act(shop, order, action)

    assert problem(answer) == (409, "order_not_open")
    assert answer.json()["order_status"] == "cancelled"
    assert shop.admin.get(f"orders/{order['id']}.json").json() == cancelled
    assert stock(shop) == (5, 0, 0)


def test_fulfilled_order_is_not_cancelled(shop, order):
    fulfilled = act(shop, order, "fulfill").json()

    answer = act(shop, order, "cancel")

    assert problem(answer) == (409, "order_not_open")
    assert shop.admin.get(f"orders/{order['id']}.json").json() == fulfilled
    assert stock(shop) == (3, 0, 0)
    assert customer_figures(shop)[0] == 1


def test_refunded_order_is_not_paid_again(shop, order):
    act(shop, order, "mark_paid")
    act(shop, order, "fulfill")
    with shop.scope():
        mark_order_refunded(order_id=int(order["id"]), now=timezone.now())
    refunded = get_order(shop, order["id"])

    answer = act(shop, order, "mark_paid")

    assert (refunded["status"], refunded["payment_status"]) == ("closed", "refunded")
    assert problem(answer) == (409, "order_not_open")
    assert get_order(shop, order["id"]) == refunded


@pytest.mark.parametrize("action", ["cancel", "mark_paid", "fulfill"])
def test_action_takes_a_fixed_number_of_statements(shop, action, django_assert_num_queries):
    rate = factories.make_rate(shop)
    one, three = (
        checkout_in("completed", shop, *((factories.make_variant(shop), 1) for _ in range(lines)), rate=rate)
        for lines in (1, 3)
    )
    get_order(shop, one["order_id"])
    with CaptureQueriesContext(connection) as taken:
        shop.admin.post(f"orders/{one['order_id']}/{action}.json")

    with django_assert_num_queries(len(taken)):
        shop.admin.post(f"orders/{three['order_id']}/{action}.json")

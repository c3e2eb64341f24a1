"""POST /webhooks/provider: what an event changes, and which account it belongs to."""

from datetime import UTC, datetime
from itertools import count

import pytest
from django.utils import timezone

from emails.models import EmailDeliveryEvent
from tests.clients import ApiClient
from tests.emails.api.provider_webhook.events import (
    CREATED_AT,
    MESSAGE_ID,
    OCCURRED_AT,
    event,
    is_untouched,
    list_events,
    list_published,
    post,
    reread,
)
from tests.factories import make_delivery
from tests.problems import field_errors, problem
from tests.threads import run_threads

_keys = count(1)


@pytest.mark.parametrize(
    ("event_type", "status", "time_field"),
    [
        ("email.delivered", "delivered", "delivered_at"),
        ("email.opened", "opened", "opened_at"),
        ("email.clicked", "clicked", "first_clicked_at"),
        ("email.bounced", "bounced", "bounced_at"),
    ],
)
def test_event_moves_the_delivery_and_is_published(shop, delivery, event_type, status, time_field):
    response = post(event(event_type))

    assert (response.status_code, response.json()) == (200, {"received": True, "duplicate": False})
    moved = reread(shop, delivery)
    assert (moved.status, getattr(moved, time_field)) == (status, OCCURRED_AT)
    (row,) = list_events(shop)
    assert (row.type, row.delivery_id, row.occurred_at) == (event_type, delivery.pk, OCCURRED_AT)
    data = {
        "email_delivery_id": str(delivery.pk),
        "template_key": "order.confirmation",
        "customer_id": None,
        "provider_message_id": MESSAGE_ID,
        "reference_type": "order",
        "reference_id": "7",
        time_field: "2026-11-20T09:30:00Z",
    }
    assert list_published(shop) == [(event_type, data)]


def test_event_shows_in_the_admin_api(shop, delivery):
    post(event("email.opened"))

    shown = shop.admin.get(f"email/deliveries/{delivery.pk}.json").json()["email_delivery"]
    assert (shown["status"], shown["opened_at"]) == ("opened", "2026-11-20T09:30:00Z")


def test_repeated_event_changes_nothing(shop, delivery):
    post(event())
    before = reread(shop, delivery)

    response = post(event())

    assert (response.status_code, response.json()) == (200, {"received": True, "duplicate": True})
    assert reread(shop, delivery).__dict__ | {"_state": None} == before.__dict__ | {"_state": None}
    assert (len(list_events(shop)), len(list_published(shop))) == (1, 1)


@pytest.mark.parametrize("header", ["svix_id", "webhook_id"])
def test_event_is_told_from_others_by_the_id_that_the_provider_gives_it(shop, delivery, header):
    same = [post(event("email.clicked"), **{header: "1"}) for _ in range(2)]
    other = post(event("email.clicked"), **{header: "2"})

    assert [answer.json()["duplicate"] for answer in (*same, other)] == [False, True, False]
    assert [row.event_key for row in list_events(shop)] == ["1", "2"]


@pytest.mark.parametrize("key", ["x" * 256, "", "\u00e9" * 300])
def test_event_with_an_id_that_cannot_be_kept_is_told_from_others_by_what_it_says(shop, delivery, key):
    assert [post(event(), svix_id=key).json()["duplicate"] for _ in range(2)] == [False, True]


def test_event_of_a_type_that_came_before_is_kept_and_not_published_again(shop, delivery):
    post(event("email.opened"))

    response = post(event("email.opened", created_at="2026-11-20T10:00:00Z"))

    assert response.json() == {"received": True, "duplicate": False}
    assert reread(shop, delivery).opened_at == OCCURRED_AT
    assert (len(list_events(shop)), len(list_published(shop))) == (2, 1)


def test_late_event_sets_its_time_and_leaves_the_status(shop, delivery):
    post(event("email.clicked"))

    post(event("email.delivered", created_at="2026-11-20T09:00:00Z"))

    late = reread(shop, delivery)
    assert (late.status, late.delivered_at) == ("clicked", datetime(2026, 11, 20, 9, tzinfo=UTC))
    assert [name for name, _ in list_published(shop)] == ["email.clicked", "email.delivered"]


def test_event_of_resend_has_its_time_beside_the_data(shop, delivery):
    post(event(created_at="2026-11-20 09:29:00.123456+00") | {"created_at": CREATED_AT})

    assert reread(shop, delivery).delivered_at == OCCURRED_AT


def test_event_from_the_future_happens_now(shop, delivery):
    post(event(created_at="9999-12-31T23:59:59Z"))

    assert abs((reread(shop, delivery).delivered_at - timezone.now()).total_seconds()) < 60


@pytest.mark.parametrize("event_type", ["email.sent", "email.delivery_delayed", "contact.created", "x"])
def test_event_of_another_type_is_ignored(shop, delivery, event_type):
    for body in (event(event_type), {"type": event_type, "data": {}}):
        response = post(body)

        assert response.status_code == 200
        assert response.json() == {"received": True, "duplicate": False, "ignored": True}
    assert is_untouched(shop, delivery)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"data": {"email_id": MESSAGE_ID}}, ("type", "required")),
        ({"type": "email.delivered"}, ("data", "required")),
        ({"type": 1, "data": {}}, ("type", "invalid")),
        ({"type": "email.delivered", "data": []}, ("data", "invalid")),
        ({"type": "email.delivered", "data": {"created_at": CREATED_AT}}, ("data.email_id", "required")),
        ({"type": "email.delivered", "data": {"email_id": MESSAGE_ID}}, ("data.created_at", "required")),
        (event(message_id=1), ("data.email_id", "invalid")),
        (event(message_id="\x00"), ("data", "null_characters_not_allowed")),
        (event(created_at="yesterday"), ("data.created_at", "invalid")),
        (event(created_at="2026-11-20T09:30:00"), ("data.created_at", "no_offset")),
    ],
)
def test_event_that_lacks_what_it_must_say_is_refused(shop, delivery, body, error):
    assert field_errors(post(body)) == {error}
    assert is_untouched(shop, delivery)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff"])
def test_body_that_is_no_json_object_is_refused(db, body):
    assert problem(post(body)) == ((422, "validation_failed") if body == b"" else (400, "malformed_request"))


def test_body_past_one_mebibyte_is_refused(db):
    assert problem(post(b'{"a": "' + b"x" * 1024 * 1024 + b'"}')) == (413, "body_too_large")


def test_other_methods_are_refused(db):
    response = ApiClient().get("/webhooks/provider")

    assert problem(response) == (405, "method_not_allowed")
    assert response["Allow"] == "POST"


@pytest.mark.parametrize("stated", [{"x_account_id": "{}"}, {"query": "?account_id={}"}, {}])
def test_account_is_the_one_stated_or_the_messages(shop, delivery, stated):
    response = post(event(), **{name: value.format(shop.id) for name, value in stated.items()})

    assert response.status_code == 200
    assert reread(shop, delivery).status == "delivered"


def test_header_wins_over_the_query(shop, other_shop, delivery):
    response = post(event(), query=f"?account_id={other_shop.id}", x_account_id=str(shop.id))

    assert response.status_code == 200


@pytest.mark.parametrize("stated", ["other", "1", "x", "0", "-1", "9" * 40, "\u0661"])
def test_account_that_is_not_the_messages_is_not_resolved(shop, other_shop, delivery, stated):
    stated = str(other_shop.id) if stated == "other" else stated
    headers = {"x_account_id": stated} if stated.isascii() else {"query": f"?account_id={stated}"}

    assert problem(post(event(), **headers)) == (404, "account_not_resolved")
    assert is_untouched(shop, delivery)


def test_message_that_is_not_known_yet_is_not_resolved_and_taken_when_it_is(shop):
    before = [post(event()), post(event(), x_account_id=str(shop.id))]

    delivery = make_delivery(shop, provider_message_id=MESSAGE_ID)

    assert [problem(answer) for answer in before] == [(404, "account_not_resolved")] * 2
    assert post(event()).json() == {"received": True, "duplicate": False}
    assert reread(shop, delivery).status == "delivered"


def test_message_id_of_two_accounts_needs_the_account(shop, other_shop, delivery):
    twin = make_delivery(other_shop, provider_message_id=MESSAGE_ID)

    assert problem(post(event())) == (404, "account_not_resolved")
    assert post(event(), x_account_id=str(other_shop.id)).status_code == 200
    assert reread(other_shop, twin).status == "delivered"
    assert is_untouched(shop, delivery)


def test_events_are_append_only(shop, delivery):
    post(event())

    with shop.scope(), pytest.raises(Exception, match="permission denied"):
        EmailDeliveryEvent.objects.update(type="email.opened")


@pytest.mark.parametrize("number", [1, 3])
def test_statements_of_an_event_are_fixed(shop, delivery, django_assert_num_queries, number):
    for _ in range(number):
        post(event(), svix_id=str(next(_keys)))

    # The account, its scope, the secret, the delivery, the event.
    with django_assert_num_queries(8):
        post(event(), svix_id="last")


@pytest.mark.django_db(transaction=True)
def test_same_event_twenty_times_at_once_is_stored_once(shop, delivery):
    responses = run_threads(20, lambda _: post(event("email.opened")))

    assert [response.status_code for response in responses] == [200] * 20
    assert sorted(response.json()["duplicate"] for response in responses) == [False] + [True] * 19
    assert (len(list_events(shop)), len(list_published(shop))) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_different_events_at_once_are_all_kept(shop, delivery):
    types = ["email.delivered", "email.opened", "email.clicked", "email.bounced"] * 3

    responses = run_threads(12, lambda index: post(event(types[index]), svix_id=str(index)))

    assert [response.json()["duplicate"] for response in responses] == [False] * 12
    assert reread(shop, delivery).status == "bounced"
    assert len(list_events(shop)) == 12
    assert sorted(name for name, _ in list_published(shop)) == sorted(set(types))

"""Endpoints over REST: `webhook_endpoints.json` and what lies below it."""

import socket

import pytest
from django.utils import timezone

from commerce.outbox.worker import run_due
from commerce.webhooks.models import WebhookDelivery, WebhookEndpoint
from commerce.webhooks.operations import MAX_ENDPOINTS
from config.versions import CURRENT_VERSION
from tests.commerce.webhooks.rows import dispatches_of, log_of, make_endpoint, make_event, reread
from tests.problems import problem
from tests.threads import run_threads

URL = "https://93.184.216.34/hooks?a=1"


def create(shop, **fields):
    return shop.admin.post("webhook_endpoints.json", {"url": URL} | fields)


def path_of(endpoint, action=""):
    return f"webhook_endpoints/{endpoint.pk}{action and '/'}{action}.json"


def stored(shop):
    with shop.scope():
        return list(WebhookEndpoint.objects.order_by("pk"))


def test_create_answers_with_the_secret_this_once(shop):
    response = create(shop, description="ERP", topics=["order.paid", "email.sent", "order.paid"])

    (endpoint,) = stored(shop)
    shown = response.json()["webhook_endpoint"]
    assert response.status_code == 201
    assert endpoint.secret.startswith("whsec_")
    assert shown == {
        "id": str(endpoint.pk),
        "url": URL,
        "description": "ERP",
        "topics": ["email.sent", "order.paid"],
        "api_version": CURRENT_VERSION,
        "status": "active",
        "disabled_reason": "",
        "paused_at": None,
        "consecutive_failures": 0,
        "failing_since": None,
        "previous_secret_until": None,
        "created_at": shown["created_at"],
        "updated_at": shown["updated_at"],
        "secret": endpoint.secret,
    }
    del shown["secret"]
    assert shop.admin.get(path_of(endpoint)).json() == {"webhook_endpoint": shown}
    assert shop.admin.get("webhook_endpoints.json").json() == {
        "webhook_endpoints": [shown],
        "next_cursor_id": None,
    }


def test_create_repeated_under_its_key_hides_the_secret(shop):
    first = shop.admin.post("webhook_endpoints.json", {"url": URL}, idempotency_key="k")
    again = shop.admin.post("webhook_endpoints.json", {"url": URL}, idempotency_key="k")

    assert again.status_code == 201
    assert again.json()["webhook_endpoint"] == first.json()["webhook_endpoint"] | {"secret": None}
    assert len(stored(shop)) == 1


def test_create_of_a_url_that_is_there_is_refused(shop, other_shop):
    create(shop)

    assert problem(create(shop)) == (409, "webhook_endpoint_exists")
    assert len(stored(shop)) == 1
    assert create(other_shop).status_code == 201


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"url": "http://127.0.0.1/"}, ("url", "address_not_public")),
        ({"url": "http://[::ffff:10.0.0.1]/"}, ("url", "address_not_public")),
        ({"url": "http://169.254.169.254/latest"}, ("url", "address_not_public")),
        ({"url": "http://93.184.216.34:25/"}, ("url", "port_not_allowed")),
        ({"url": "http://a\\b/"}, ("url", "invalid_url")),
        ({"url": "http://x@93.184.216.34/"}, ("url", "invalid_url")),
        ({"url": "ftp://93.184.216.34/"}, ("url", "invalid_url")),
        ({"url": "http://" + "a" * 64 + ".example/"}, ("url", "host_not_found")),
        ({"url": "https://93.184.216.34/" + "a" * 1000}, ("url", "max_length")),
        ({"url": None}, ("url", "null")),
        ({"topics": ["order.forgotten"]}, ("topics.0", "invalid_choice")),
        ({"topics": ["webhook_endpoint.ping"]}, ("topics.0", "invalid_choice")),
        ({"topics": "order.paid"}, ("topics", "not_a_list")),
        ({"topics": ["order.paid"] * 100}, ("topics", "max_length")),
        ({"description": "x" * 201}, ("description", "max_length")),
    ],
)
def test_create_with_a_field_that_means_nothing_is_refused(shop, fields, error):
    response = create(shop, **fields)

    assert problem(response) == (422, "validation_failed")
    assert [(found["field"], found["code"]) for found in response.json()["errors"]] == [error]
    assert stored(shop) == []


def test_create_asks_the_name_servers_outside_of_a_transaction(shop, monkeypatch):
    def getaddrinfo(host, port, **kwargs):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    address = "93.184.216.34"
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert create(shop, url="https://hooks.example/").status_code == 201

    address = "10.0.0.1"
    response = create(shop, url="https://inside.example/")

    assert response.json()["errors"][0]["code"] == "address_not_public"
    assert [endpoint.url for endpoint in stored(shop)] == ["https://hooks.example/"]


def test_create_stops_at_the_limit(shop):
    for number in range(MAX_ENDPOINTS):
        make_endpoint(shop, url=f"https://93.184.216.34/{number}")

    response = create(shop)

    assert problem(response) == (409, "too_many_webhook_endpoints")
    assert response.json()["limit"] == 20
    assert len(stored(shop)) == 20


@pytest.mark.django_db(transaction=True)
def test_create_at_once_does_not_get_past_the_limit(shop):
    for number in range(MAX_ENDPOINTS - 1):
        make_endpoint(shop, url=f"https://93.184.216.34/{number}")

    answers = run_threads(4, lambda index: create(shop, url=f"https://93.184.216.34/new/{index}").status_code)

    assert sorted(answers) == [201, 409, 409, 409]
    assert len(stored(shop)) == 20


@pytest.mark.django_db(transaction=True)
def test_create_of_one_url_at_once_makes_one_endpoint(shop):
    answers = run_threads(4, lambda _: create(shop).status_code)

    assert sorted(answers) == [201, 409, 409, 409]
    assert len(stored(shop)) == 1


def test_update_changes_what_is_given(shop):
    endpoint = make_endpoint(shop)

    response = shop.admin.put(path_of(endpoint), {"topics": ["order.paid"], "description": None})

    assert response.status_code == 200
    endpoint = reread(shop, endpoint)
    assert (endpoint.url, endpoint.topics, endpoint.description) == (
        "https://93.184.216.34/hook",
        ["order.paid"],
        "",
    )


def test_update_pauses_and_resumes(shop):
    now = timezone.now()
    endpoint = make_endpoint(shop, consecutive_failures=3, failing_since=now, rests_until=now)

    paused = shop.admin.put(path_of(endpoint), {"status": "paused"}).json()["webhook_endpoint"]
    make_event(shop)
    active = shop.admin.put(path_of(endpoint), {"status": "active"}).json()["webhook_endpoint"]

    assert (paused["status"], paused["consecutive_failures"]) == ("paused", 3)
    assert paused["paused_at"] is not None
    assert (active["status"], active["paused_at"], active["consecutive_failures"]) == ("active", None, 0)
    assert reread(shop, endpoint).rests_until is None
    assert dispatches_of(shop) == []


def test_update_makes_a_disabled_endpoint_active(shop):
    now = timezone.now()
    endpoint = make_endpoint(
        shop,
        status="disabled",
        disabled_reason="gone",
        paused_at=now,
        consecutive_failures=1,
        failing_since=now,
    )

    response = shop.admin.put(path_of(endpoint), {"status": "active"})

    shown = response.json()["webhook_endpoint"]
    assert (shown["status"], shown["disabled_reason"], shown["failing_since"]) == ("active", "", None)


def test_update_of_the_url_forgets_the_failures_of_the_old_one(shop):
    now = timezone.now()
    endpoint = make_endpoint(shop, consecutive_failures=3, failing_since=now, rests_until=now)

    response = shop.admin.put(path_of(endpoint), {"url": URL})

    assert response.json()["webhook_endpoint"]["consecutive_failures"] == 0


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"url": "http://10.0.0.1/"}, ("url", "address_not_public")),
        ({"status": "disabled"}, ("status", "invalid_choice")),
    ],
)
def test_update_that_means_nothing_is_refused(shop, changes, error):
    endpoint = make_endpoint(shop)

    response = shop.admin.put(path_of(endpoint), changes)

    assert problem(response) == (422, "validation_failed")
    assert [(found["field"], found["code"]) for found in response.json()["errors"]] == [error]
    unchanged = reread(shop, endpoint)
    assert (unchanged.url, unchanged.status) == (endpoint.url, "active")


def test_update_to_the_url_of_another_endpoint_is_refused(shop):
    create(shop)
    endpoint = make_endpoint(shop)

    assert problem(shop.admin.put(path_of(endpoint), {"url": URL})) == (409, "webhook_endpoint_exists")


def test_delete_forgets_the_endpoint_with_its_log(shop, endpoint, receiver):
    make_event(shop)
    run_due()
    assert len(log_of(shop)) == 1

    response = shop.admin.delete(path_of(endpoint))

    assert response.status_code == 204
    assert (stored(shop), log_of(shop)) == ([], [])
    assert problem(shop.admin.delete(path_of(endpoint))) == (404, "not_found")


def test_rotation_answers_with_the_new_secret_this_once(shop):
    endpoint = make_endpoint(shop)
    old = endpoint.secret

    response = shop.admin.post(path_of(endpoint, "rotate_secret"), {"grace_seconds": 3600})

    shown = response.json()["webhook_endpoint"]
    endpoint = reread(shop, endpoint)
    assert response.status_code == 200
    assert shown["secret"] == endpoint.secret != old
    assert (endpoint.previous_secret, shown["previous_secret_until"] is None) == (old, False)
    assert "secret" not in shop.admin.get(path_of(endpoint)).json()["webhook_endpoint"]


def test_rotation_without_grace_forgets_the_old_secret(shop):
    endpoint = make_endpoint(shop)

    response = shop.admin.post(path_of(endpoint, "rotate_secret"))

    assert response.json()["webhook_endpoint"]["previous_secret_until"] is None
    assert reread(shop, endpoint).previous_secret == ""


@pytest.mark.django_db(transaction=True)
def test_rotations_at_once_each_make_the_secret_of_the_other_the_previous_one(shop):
    endpoint = make_endpoint(shop)

    def rotate(_):
        answer = shop.admin.post(path_of(endpoint, "rotate_secret"), {"grace_seconds": 60})
        return answer.json()["webhook_endpoint"]["secret"]

    secrets = run_threads(2, rotate)

    endpoint = reread(shop, endpoint)
    assert {endpoint.secret, endpoint.previous_secret} == set(secrets)


def test_ping_is_found_among_the_deliveries(shop, endpoint, receiver):
    response = shop.admin.post(path_of(endpoint, "ping"))
    run_due()

    page = shop.admin.get(path_of(endpoint, "deliveries")).json()
    (delivery,) = page["webhook_deliveries"]
    assert response.status_code == 201
    assert delivery == {
        "id": delivery["id"],
        "webhook_endpoint_id": str(endpoint.pk),
        "message_id": response.json()["webhook_ping"]["message_id"],
        "event_type": "webhook_endpoint.ping",
        "attempt": 1,
        "status": "succeeded",
        "response_status": 200,
        "response_excerpt": "ok",
        "error": "",
        "duration_ms": delivery["duration_ms"],
        "created_at": delivery["created_at"],
    }


@pytest.mark.parametrize("number", [1, 3])
def test_deliveries_come_newest_first_in_a_fixed_number_of_statements(
    shop, endpoint, receiver, django_assert_num_queries, number
):
    for _ in range(number):
        make_event(shop)
    run_due()
    make_endpoint(shop)
    shop.admin.get(path_of(endpoint, "deliveries"))

    with django_assert_num_queries(6):
        page = shop.admin.get(path_of(endpoint, "deliveries")).json()

    expected = [str(row.pk) for row in reversed(log_of(shop))]
    assert [row["id"] for row in page["webhook_deliveries"]] == expected


def test_deliveries_filtered_by_status(shop, endpoint, receiver):
    make_event(shop)
    run_due()
    receiver.status = 500
    make_event(shop)
    run_due()

    def shown(query):
        page = shop.admin.get(path_of(endpoint, "deliveries") + query).json()
        return [row["response_status"] for row in page["webhook_deliveries"]]

    assert (shown("?status=failed"), shown("?status=succeeded"), shown("")) == ([500], [200], [500, 200])
    assert problem(shop.admin.get(path_of(endpoint, "deliveries") + "?status=x")) == (
        422,
        "validation_failed",
    )


def test_endpoints_of_another_account_do_not_exist(shop, other_shop):
    endpoint = make_endpoint(other_shop)

    answers = [
        shop.admin.get(path_of(endpoint)),
        shop.admin.put(path_of(endpoint), {"status": "paused"}),
        shop.admin.delete(path_of(endpoint)),
        shop.admin.post(path_of(endpoint, "rotate_secret")),
        shop.admin.post(path_of(endpoint, "ping")),
        shop.admin.get(path_of(endpoint, "deliveries")),
    ]

    assert {problem(answer) for answer in answers} == {(404, "not_found")}
    assert (reread(other_shop, endpoint).status, dispatches_of(other_shop)) == ("active", [])
    with shop.scope():
        assert not WebhookDelivery.objects.exists()


@pytest.mark.parametrize("url", ["https://93.184.216.34/hooks", "https://[2606:2800:220:1::1]/hooks"])
def test_address_needs_no_place_for_lookups(shop, settings, url):
    settings.WEB_CALLS = {**settings.WEB_CALLS, "lookup": 0}

    assert create(shop, url=url).status_code == 201
    named = create(shop, url="https://shop.example/hooks")
    assert (named.status_code, named.json()["code"]) == (503, "too_many_outside_calls")
    assert len(stored(shop)) == 1

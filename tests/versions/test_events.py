"""Events and webhooks keep the version they were created for; newer events are downgraded for older versions."""

from collections import Counter

import orjson
import pytest
from django.db import connection

from commerce.events.models import Event
from commerce.outbox.worker import run_due
from commerce.webhooks.models import WebhookEndpoint
from config.versions import CURRENT_VERSION
from tests.commerce.webhooks.rows import make_due, make_event
from tests.versions.conftest import VERSIONS, admin

NEWEST = "2099-07"
# The name of the order id in `order.paid`.
NAMES = {CURRENT_VERSION: "order", "2099-01": "order", NEWEST: "order_id"}


def add_endpoint(shop, receiver, version):
    answer = admin(shop, version).post("webhook_endpoints.json", {"url": f"{receiver.url}?{version}"})
    assert answer.status_code == 201, answer.content
    return answer.json()["webhook_endpoint"]


def received(receiver):
    """Return what each endpoint was sent, by the version in its URL."""
    found = [
        (request.query_string.decode(), orjson.loads(request.get_data())) for request in receiver.requests
    ]
    assert Counter(version for version, _ in found).most_common(1)[0][1] == 1
    return dict(found)


def feed(shop, version):
    return admin(shop, version).get("events.json").json()["events"]


def test_endpoints_are_sent_the_version_that_they_were_made_with(shop, receiver, more_versions):
    made = {version: add_endpoint(shop, receiver, version) for version in VERSIONS}
    event = make_event(shop, order_id="7")

    run_due()

    assert {version: endpoint["api_version"] for version, endpoint in made.items()} == {
        v: v for v in VERSIONS
    }
    assert event.api_version == NEWEST
    assert {version: (body["api_version"], body["data"]) for version, body in received(receiver).items()} == {
        version: (version, {NAMES[version]: "7"}) for version in VERSIONS
    }


def test_ping_names_the_version_of_its_endpoint(shop, receiver, more_versions):
    endpoint = add_endpoint(shop, receiver, CURRENT_VERSION)
    admin(shop, NEWEST).post(f"webhook_endpoints/{endpoint['id']}/ping.json")

    run_due()

    assert received(receiver)[CURRENT_VERSION]["api_version"] == CURRENT_VERSION


def test_feed_is_in_the_version_of_the_request(shop, more_versions):
    make_event(shop, order_id="7")

    for version in VERSIONS:
        (event,) = feed(shop, version)
        assert (event["api_version"], event["data"]) == (version, {NAMES[version]: "7"})


def test_event_from_before_a_version_keeps_its_body_when_it_is_sent_again(shop, receiver, add_versions):
    receiver.status = 503
    endpoint = add_endpoint(shop, receiver, CURRENT_VERSION)
    make_event(shop, order="7")
    run_due()

    add_versions()
    receiver.status = 200
    make_due(shop)
    run_due()

    first, second = (request.get_data() for request in receiver.requests)
    assert first == second
    assert orjson.loads(first)["api_version"] == endpoint["api_version"] == CURRENT_VERSION
    for version in VERSIONS:
        (event,) = feed(shop, version)
        assert (event["api_version"], event["data"]) == (CURRENT_VERSION, {"order": "7"})


def test_endpoint_keeps_its_version_when_a_newer_client_changes_it(shop, receiver, more_versions):
    endpoint = add_endpoint(shop, receiver, CURRENT_VERSION)
    path = f"webhook_endpoints/{endpoint['id']}.json"

    changed = admin(shop, NEWEST).put(path, {"description": "Ours", "api_version": NEWEST})

    assert changed.json()["webhook_endpoint"]["api_version"] == CURRENT_VERSION
    assert changed["X-Unknown-Fields"] == "api_version"


@pytest.mark.usefixtures("more_versions")
def test_rows_of_a_version_that_was_retired_count_as_the_oldest(shop, receiver):
    endpoint = add_endpoint(shop, receiver, NEWEST)
    with shop.scope():
        WebhookEndpoint.objects.filter(pk=endpoint["id"]).update(api_version="2020-01")
    make_event(shop, order_id="7")

    run_due()

    (body,) = received(receiver).values()
    assert (body["api_version"], body["data"]) == (CURRENT_VERSION, {"order": "7"})


def test_rows_of_code_that_knows_no_versions_are_of_the_first(shop, more_versions):
    with shop.scope():
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO events (account_id, type, data, occurred_at) "
                "VALUES (current_account_id(), 'order.paid', '{}', now())"
            )
            cursor.execute(
                "INSERT INTO webhook_endpoints (account_id, url, description, topics, status, disabled_reason, "
                "secret, previous_secret, consecutive_failures, created_at, updated_at) VALUES (current_account_id(), "
                "'https://hats.example', '', '{}', 'active', '', 's', '', 0, now(), now())"
            )
        assert Event.objects.get().api_version == WebhookEndpoint.objects.get().api_version == "2026-01"

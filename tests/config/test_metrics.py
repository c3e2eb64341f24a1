"""`/metrics`: its content, and who may read it."""

import logging
import threading
from datetime import timedelta

import pytest
import redis
from django.db import transaction
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from commerce import metrics
from commerce.events.operations import publish, publish_many
from commerce.outbox.handlers import Outcome, handles
from commerce.outbox.worker import run_due
from config import metrics as view
from config.health import make_database_probe
from config.periodic import load_periodic_tasks
from config.probes import Probe
from config.versions import CURRENT_VERSION
from tests import factories
from tests.problems import problem
from tests.servers import silent_server

NOW = timezone.now()
_STATUSES = ("pending", "processing", "dead")


def scraped(**options):
    """Return every sample by name and labels."""
    response = Client(**options).get("/metrics")
    assert response.status_code == 200
    families = text_string_to_metric_families(response.content.decode())
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def sample(name, **labels):
    return (name, *sorted(labels.items()))


def grown(before, after, key):
    return after[key] - before.get(key, 0)


def test_requests_are_counted_by_the_template_of_their_route(shop):
    before = scraped()

    statuses = [shop.storefront.get(f"carts/{token}.json").status_code for token in ("a", "b", "c")]
    after = scraped()

    route = {
        "surface": "storefront",
        "route": f"storefront/{CURRENT_VERSION}/carts/<token:token>.json",
        "method": "GET",
    }
    duration = "commerce_request_duration_seconds"
    assert statuses == [404] * 3
    assert grown(before, after, sample("commerce_requests_total", status="404", **route)) == 3
    assert grown(before, after, sample(f"{duration}_count", **route)) == 3
    assert grown(before, after, sample(f"{duration}_bucket", le="+Inf", **route)) == 3
    assert 0 < grown(before, after, sample(f"{duration}_sum", **route)) < 10


def test_requests_of_strange_paths_and_methods_share_a_series(db):
    before = scraped()

    for number in range(3):
        Client().generic("BREW", f"/nowhere/{number}")
    after = scraped()

    labels = {"surface": "other", "route": "none", "method": "other", "status": "404"}
    assert grown(before, after, sample("commerce_requests_total", **labels)) == 3
    assert not [key for key in after if "nowhere" in str(key)]


def test_requests_are_written_without_a_scrape(db):
    metrics.count_request(route="some/<id:id>", method="GET", status=200, seconds=0.1)

    for timer in [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]:
        timer.join(timeout=60)

    assert not metrics._answered


@pytest.mark.django_db(transaction=True)
def test_events_are_counted_once_they_are_committed(shop):
    before = scraped()

    with shop.scope():
        publish(type="voucher.redeemed", data={}, now=NOW)
        publish_many(occurrences=[("voucher.redeemed", {}), ("voucher.depleted", {})], now=NOW)
    with shop.scope():
        publish(type="voucher.redeemed", data={}, now=NOW)
        transaction.set_rollback(True)
    after = scraped()

    assert grown(before, after, sample("commerce_events_total", type="voucher.redeemed")) == 2
    assert grown(before, after, sample("commerce_events_total", type="voucher.depleted")) == 1


@pytest.mark.django_db(transaction=True)
def test_runs_of_workers_are_counted_by_their_outcome(shop):
    @handles("measured")
    def measured(dispatch):
        if dispatch.payload["fails"]:
            raise ValueError
        return Outcome()

    before = scraped()
    for fails, attempts in ((False, 0), (True, 0), (True, 5)):
        target = {"task_name": "measured"}
        factories.make_dispatch(shop, target=target, payload={"fails": fails}, attempts=attempts)
    factories.make_dispatch(shop, target={"task_name": "of-tomorrow"})

    run_due()
    after = scraped()

    def runs(task, outcome):
        return grown(before, after, sample("commerce_outbox_runs_total", task=task, outcome=outcome))

    assert [runs("measured", outcome) for outcome in ("succeeded", "retried", "dead")] == [1, 1, 1]
    assert runs("of-tomorrow", "postponed") == 1


@pytest.mark.django_db(transaction=True)
def test_outbox_shows_the_backlog_of_every_account(shop, other_shop):
    due_at = timezone.now() - timedelta(minutes=10)
    factories.make_dispatch(shop, due_at=due_at)
    factories.make_dispatch(other_shop, due_at=due_at + timedelta(minutes=5))
    factories.make_dispatch(other_shop, status="dead", finished_at=due_at)
    factories.make_dispatch(shop, status="succeeded", due_at=due_at, finished_at=due_at)
    factories.make_dispatch(shop, status="processing", locked_until=timezone.now() + timedelta(minutes=5))

    found = scraped()

    waiting = {status: found[sample("commerce_outbox_dispatches", status=status)] for status in _STATUSES}
    assert waiting == {"pending": 2, "processing": 1, "dead": 1}
    assert 600 <= found[sample("commerce_outbox_oldest_due_seconds")] < 660


@pytest.mark.django_db
def test_servers_that_answer_are_up():
    found = scraped()

    assert found[sample("commerce_up", server="database")] == 1
    assert found[sample("commerce_up", server="redis")] == 1
    assert found[sample("commerce_outbox_oldest_due_seconds")] == 0


def test_servers_that_hang_are_down(monkeypatch):
    def hang():
        raise TimeoutError

    monkeypatch.setattr(view, "_backlog", make_database_probe(hang))
    monkeypatch.setattr(view, "_redis", Probe(load_periodic_tasks))
    with silent_server() as port:
        silent = redis.Redis(host="127.0.0.1", port=port, socket_timeout=0.2, retry=None)
        monkeypatch.setattr("config.periodic.client", lambda: silent)

        found = scraped()

    assert found[sample("commerce_up", server="database")] == 0
    assert found[sample("commerce_up", server="redis")] == 0
    assert sample("commerce_outbox_oldest_due_seconds") not in found


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1"])
def test_metrics_are_shown_to_this_machine(address):
    assert Client(REMOTE_ADDR=address).get("/metrics").status_code == 200


@pytest.mark.parametrize(
    "options",
    [
        {"REMOTE_ADDR": "192.0.2.1"},
        {"REMOTE_ADDR": ""},
        {"REMOTE_ADDR": "unix:"},
        {"headers": {"X-Forwarded-For": "192.0.2.1"}},
        {"headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"headers": {"X-Forwarded-Proto": "https"}},
        {"headers": {"X-Real-Ip": "127.0.0.1"}},
        {"headers": {"Forwarded": "for=127.0.0.1"}},
        {"headers": {"Via": "1.1 proxy"}},
        {"REMOTE_ADDR": "192.0.2.1", "headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"REMOTE_ADDR": "192.0.2.1", "headers": {"Authorization": "Bearer "}},
    ],
)
def test_metrics_are_hidden_from_everybody_else(options):
    assert problem(Client(**options).get("/metrics")) == (404, "not_found")


@pytest.mark.django_db
def test_metrics_are_shown_to_who_has_the_token(settings):
    settings.METRICS_TOKEN = "s3cret"
    elsewhere = {"REMOTE_ADDR": "192.0.2.1"}

    right = Client(**elsewhere, headers={"Authorization": "Bearer s3cret"}).get("/metrics")
    wrong = [
        Client(**elsewhere, headers={"Authorization": value}).get("/metrics")
        for value in ("Bearer s3cret2", "Bearer", "s3cret", "Bearer s3crét")
    ]

    assert (right.status_code, right["Content-Type"].partition(";")[0]) == (200, "text/plain")
    assert [problem(answer) for answer in wrong] == [(404, "not_found")] * 4


def test_requests_are_answered_where_nothing_can_be_written(settings, tmp_path, caplog):
    occupied = tmp_path / "file"
    occupied.touch()
    settings.METRICS_DIR = occupied / "metrics"
    metrics.count_request(route="unwritable", method="GET", status=200, seconds=0.1)

    with caplog.at_level(logging.WARNING):
        registry = metrics.shared_registry()

    assert "Metrics are not kept" in caplog.text
    assert list(registry.collect()) == []

"""/readyz answers in time, whatever the database and Redis do."""

import time

import pytest
import redis
from django.db import connection
from django.db.utils import ConnectionHandler
from django.test import Client

from commerce.tenancy.roles import bypass_reasons
from config import health
from config.probes import Probe
from tests.servers import closed_port, silent_server

NO_ANSWER = {
    "status": "unavailable",
    "failures": ["The database does not answer."],
    "redis": "ok",
    "late_tasks": [],
}
# A server that never answers would be waited for until PostgreSQL's time-outs, or for ever.
SOON_S = 10
NO_REDIS = {"redis": "unavailable", "late_tasks": None}


@pytest.fixture
def database_at(monkeypatch, django_db_blocker):
    """Point /readyz to another port for the database."""

    def move(port):
        options = {
            name: value for name, value in connection.settings_dict["OPTIONS"].items() if name != "pool"
        }
        moved = connection.settings_dict | {"HOST": "127.0.0.1", "PORT": port, "OPTIONS": options}
        handler = ConnectionHandler({"default": moved})
        monkeypatch.setattr(health, "connections", handler)
        monkeypatch.setattr(
            health, "_serving_role", health.make_database_probe(lambda: bypass_reasons(handler["default"]))
        )

    with django_db_blocker.unblock():
        yield move


@pytest.fixture
def redis_at(monkeypatch):
    """Point /readyz to another port for Redis."""

    def move(port, timeout_s=0.5):
        moved = redis.Redis(
            host="127.0.0.1",
            port=port,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=None,
        )
        monkeypatch.setattr(health, "client", lambda: moved)
        monkeypatch.setattr(health, "_redis", health.make_redis_probe())
        monkeypatch.setattr("config.periodic.client", lambda: moved)
        monkeypatch.setattr(health, "_late_tasks", health.make_late_tasks_probe())

    return move


def ask_readyz():
    """Return the answer of /readyz, and the seconds that it took."""
    began = time.monotonic()
    response = Client().get("/readyz")
    return response.status_code, response.json(), time.monotonic() - began


def test_readyz_does_not_wait_for_a_database_that_hangs(database_at):
    with silent_server() as port:
        database_at(port)

        answers = [ask_readyz() for _ in range(2)]

    assert [(status, document) for status, document, _ in answers] == [(503, NO_ANSWER)] * 2
    assert max(seconds for *_, seconds in answers) < SOON_S


def test_readyz_without_a_database(database_at):
    database_at(closed_port())

    status, document, seconds = ask_readyz()

    assert (status, document) == (503, NO_ANSWER)
    assert seconds < SOON_S


@pytest.mark.django_db
def test_readyz_does_not_wait_for_a_redis_that_hangs(redis_at):
    with silent_server() as port:
        redis_at(port)

        status, document, seconds = ask_readyz()

    assert (status, document) == (200, {"status": "ok", "failures": []} | NO_REDIS)
    assert seconds < SOON_S


@pytest.mark.django_db
def test_readyz_without_redis_is_ready(redis_at):
    redis_at(closed_port())

    status, document, _ = ask_readyz()

    assert (status, document) == (200, {"status": "ok", "failures": []} | NO_REDIS)


def test_readyz_does_not_wait_twice_when_both_hang(database_at, redis_at, monkeypatch):
    monkeypatch.setattr(health, "PATIENCE_S", 4)
    with silent_server() as port:
        database_at(port)
        redis_at(port, timeout_s=60)

        status, document, seconds = ask_readyz()

    assert (status, document) == (503, NO_ANSWER | NO_REDIS)
    assert 4 <= seconds < 8


def test_probe_asks_once_at_a_time():
    questions = []

    def hang():
        questions.append("?")
        time.sleep(0.2)
        return len(questions)

    probe = Probe(hang)
    at_once = [probe.ask() for _ in range(5)]

    assert [answer.result(timeout=60) for answer in at_once] == [1] * 5
    assert probe.ask().result(timeout=60) == 2


def test_probe_passes_on_what_went_wrong():
    probe = Probe(lambda: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        probe.ask().result(timeout=60)


def test_host_that_is_not_served_is_named_as_the_reason(settings):
    settings.ALLOWED_HOSTS = ["shop.example"]

    response = Client().get("/backoffice/", headers={"host": "other.example"})

    assert response.status_code == 400
    assert response.json()["code"] == "malformed_request"
    assert response.json()["detail"] == "This host isn't served here."

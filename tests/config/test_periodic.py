"""Reporting stopped periodic tasks, because a dead scheduler reports no error itself."""

import time

import pytest
from celery.signals import task_success
from django.conf import settings
from django.test import Client

from checkouts.tasks import sweep
from commerce.outbox.tasks import drain
from commerce.redis import client
from config.celery import app
from config.periodic import SUCCESSES, find_late_tasks, load_periodic_tasks

SWEEP = "checkouts.tasks.sweep"


def succeeded(task, *, seconds_ago):
    client().hset(SUCCESSES, task, str(time.time() - seconds_ago))


def noted(task):
    at = client().hget(SUCCESSES, task)
    return at and float(at)


def test_all_of_the_schedule_is_watched():
    assert {task.name for task in load_periodic_tasks()} == set(settings.CELERY_BEAT_SCHEDULE)


def test_nothing_is_late_at_first():
    assert find_late_tasks() == []


def test_task_is_late_after_three_intervals_and_a_minute():
    interval = settings.CELERY_BEAT_SCHEDULE["sweep-checkouts"]["schedule"]

    succeeded(SWEEP, seconds_ago=3 * interval + 30)
    assert find_late_tasks() == []

    succeeded(SWEEP, seconds_ago=3 * interval + 61)
    assert find_late_tasks() == ["sweep-checkouts"]


def test_task_that_never_succeeds_is_late_in_the_end():
    assert find_late_tasks() == []
    first_look = noted(SWEEP)

    client().hset(SUCCESSES, SWEEP, str(first_look - 3600))

    assert find_late_tasks() == ["sweep-checkouts"]
    assert noted(SWEEP) == first_look - 3600


@pytest.mark.django_db
def test_success_is_noted():
    succeeded(SWEEP, seconds_ago=3600)

    sweep.apply()

    assert time.time() - noted(SWEEP) < 3600
    assert find_late_tasks() == []


@pytest.mark.django_db
def test_failure_is_not_noted(monkeypatch):
    monkeypatch.setattr("checkouts.tasks.sweep_overdue_checkouts", lambda **_: 1 // 0)

    assert sweep.apply().failed()

    assert noted(SWEEP) is None


def test_other_tasks_are_not_noted():
    @app.task(name="tests.unscheduled")
    def unscheduled():
        """Nothing to do."""

    try:
        unscheduled.apply()
        assert client().hkeys(SUCCESSES) == []
    finally:
        app.tasks.unregister("tests.unscheduled")


def test_work_goes_on_where_its_success_cannot_be_noted(monkeypatch, caplog):
    def unreachable():
        import redis

        raise redis.ConnectionError("gone")

    monkeypatch.setattr("config.periodic.client", unreachable)

    task_success.send(sender=drain)

    assert "Couldn't record the success of commerce.outbox.tasks.drain: gone" in caplog.text


@pytest.mark.django_db
def test_late_tasks_are_told_and_take_nothing_out_of_service():
    succeeded(SWEEP, seconds_ago=3600)

    readiness = Client().get("/readyz")
    lines = Client().get("/metrics").content.decode().splitlines()

    assert readiness.status_code == 200
    assert readiness.json()["late_tasks"] == ["sweep-checkouts"]
    assert 'commerce_periodic_task_late{task="sweep-checkouts"} 1.0' in lines
    assert 'commerce_periodic_task_late{task="drain-outbox"} 0.0' in lines

"""Expired sessions of the back office are deleted."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from accounts import tasks
from accounts.models import StaffSession
from config.celery import app
from tests.metrics import failures_of
from tests.poison import poisoned
from tests.threads import run_threads


def open_session(key, *, hours_left):
    expire_date = timezone.now() + timedelta(hours=hours_left)
    StaffSession.objects.create(session_key=key, session_data="", expire_date=expire_date)


def keys():
    return set(StaffSession.objects.values_list("pk", flat=True))


def test_sessions_that_have_expired_are_forgotten(db):
    open_session("old", hours_left=-1)
    open_session("live", hours_left=1)

    tasks.clear_sessions()

    assert keys() == {"live"}


def test_sessions_are_forgotten_in_batches(db, monkeypatch):
    monkeypatch.setattr(tasks, "BATCH", 2)
    monkeypatch.setattr(tasks, "BATCHES", 2)
    for number in range(5):
        open_session(f"old-{number}", hours_left=-1 - number)

    tasks.clear_sessions()
    assert keys() == {"old-0"}

    tasks.clear_sessions()
    assert keys() == set()


@pytest.mark.django_db(transaction=True)
def test_sessions_that_another_worker_is_forgetting_are_left_to_it():
    open_session("taken", hours_left=-2)
    open_session("free", hours_left=-1)

    with transaction.atomic():
        StaffSession.objects.select_for_update().get(pk="taken")
        run_threads(1, lambda _: tasks.clear_sessions())
        assert keys() == {"taken"}


@pytest.mark.django_db(transaction=True)
def test_sessions_are_forgotten_beside_those_that_can_not(monkeypatch):
    monkeypatch.setattr(tasks, "BATCH", 2)
    for number in range(3):
        open_session(f"bad-{number}", hours_left=-9)
        open_session(f"old-{number}", hours_left=-1)
    before = failures_of("sessions_prune")

    with poisoned("staff_sessions", "bad-0", "bad-1", "bad-2", key="session_key"):
        tasks.clear_sessions()

        assert keys() == {"bad-0", "bad-1", "bad-2"}
        assert failures_of("sessions_prune") == before + 3


def test_clearing_is_scheduled():
    assert app.conf.beat_schedule["clear-sessions"]["task"] == tasks.clear_sessions.name

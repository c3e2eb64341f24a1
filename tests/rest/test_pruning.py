"""Stored answers are deleted once they are no longer replayed."""

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.rest import tasks
from commerce.rest.models import IdempotencyRecord, WorkspaceIdempotencyRecord
from commerce.tenancy.scope import workspace_scope
from config.celery import app
from tests.metrics import failures_of
from tests.poison import poisoned

STORED = {"surface": "admin", "fingerprint": b"", "status": 201, "body": b"{}"}


def store(shop, key, *, hours_ago):
    created_at = timezone.now() - timedelta(hours=hours_ago)
    with shop.scope():
        IdempotencyRecord.objects.create(key=key, **STORED)
        IdempotencyRecord.objects.filter(key=key).update(created_at=created_at)


def keys(shop):
    with shop.scope():
        return set(IdempotencyRecord.objects.values_list("key", flat=True))


def test_prune_forgets_answers_of_every_account_after_a_day(shop, other_shop):
    for owner in (shop, other_shop):
        store(owner, "old", hours_ago=25)
        store(owner, "new", hours_ago=23)

    tasks.prune()

    assert (keys(shop), keys(other_shop)) == ({"new"}, {"new"})


def test_prune_forgets_answers_of_workspaces(shop):
    workspace_id = shop.workspace_id
    with workspace_scope(workspace_id):
        for key, hours_ago in (("old", 25), ("new", 23)):
            row = WorkspaceIdempotencyRecord.objects.create(workspace_id=workspace_id, key=key, **STORED)
            created_at = timezone.now() - timedelta(hours=hours_ago)
            WorkspaceIdempotencyRecord.objects.filter(pk=row.pk).update(created_at=created_at)

    tasks.prune()

    with workspace_scope(workspace_id):
        assert list(WorkspaceIdempotencyRecord.objects.values_list("key", flat=True)) == ["new"]


def test_prune_goes_on_until_nothing_old_is_left(shop, monkeypatch):
    monkeypatch.setattr(tasks, "BATCH", 2)
    for number in range(5):
        store(shop, f"old-{number}", hours_ago=25)

    tasks.prune()

    assert keys(shop) == set()


def test_prune_leaves_to_the_next_run_what_is_too_much_for_one(shop, monkeypatch):
    monkeypatch.setattr(tasks, "BATCH", 2)
    monkeypatch.setattr(tasks, "BATCHES", 2)
    for number in range(5):
        store(shop, f"old-{number}", hours_ago=25)

    tasks.prune()

    assert len(keys(shop)) == 1


@pytest.mark.django_db(transaction=True)
def test_prune_goes_on_past_what_can_not_be_deleted(shop, other_shop, monkeypatch):
    monkeypatch.setattr(tasks, "BATCH", 2)
    for number in range(3):
        store(shop, f"bad-{number}", hours_ago=90)
        store(other_shop, f"old-{number}", hours_ago=25)
    before = failures_of("answers_prune")

    with poisoned("idempotency_records", "bad-0", "bad-1", "bad-2", key="key"):
        tasks.prune()

        assert (keys(shop), keys(other_shop)) == ({"bad-0", "bad-1", "bad-2"}, set())
        assert failures_of("answers_prune") == before + 3


def test_prune_is_scheduled():
    assert app.conf.beat_schedule["prune-idempotency-records"]["task"] == tasks.prune.name

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from commerce.outbox import tasks
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import prune_dispatches
from config.celery import app
from tests.factories import make_dispatch
from tests.metrics import failures_of
from tests.poison import poisoned


def ended(shop, *, days_ago, status="succeeded"):
    finished_at = timezone.now() - timedelta(days=days_ago)
    return make_dispatch(shop, status=status, finished_at=finished_at).pk


def left(*shops):
    found = set()
    for shop in shops:
        with shop.scope():
            found |= set(OutboxDispatch.objects.values_list("pk", flat=True))
    return found


@pytest.mark.parametrize("status", ["succeeded", "skipped", "cancelled"])
def test_prune_forgets_what_ended_long_ago(shop, other_shop, status):
    ended(shop, days_ago=31, status=status)
    ended(other_shop, days_ago=400, status=status)
    kept = ended(shop, days_ago=29, status=status)

    tasks.prune()

    assert left(shop, other_shop) == {kept}


@pytest.mark.parametrize("task_name", ["refund_payment", "cancel_payment", "settle_payment", "send_email"])
def test_prune_never_forgets_what_is_owed(shop, task_name):
    kept = make_dispatch(
        shop, task_name=task_name, status="dead", finished_at=timezone.now() - timedelta(days=400)
    ).pk

    tasks.prune()

    assert left(shop) == {kept}


@pytest.mark.parametrize("task_name", ["deliver_webhook", "ping_webhook"])
def test_prune_forgets_what_was_given_up_and_is_owed_to_nobody(shop, task_name):
    make_dispatch(shop, task_name=task_name, status="dead", finished_at=timezone.now() - timedelta(days=31))

    tasks.prune()

    assert left(shop) == set()


@pytest.mark.django_db(transaction=True)
def test_prune_goes_on_past_what_can_not_be_deleted(shop, other_shop, monkeypatch):
    poison = [ended(shop, days_ago=90) for _ in range(3)]
    for _ in range(5):
        ended(other_shop, days_ago=60)
    monkeypatch.setattr(tasks, "PRUNE_BATCH", 2)
    before = failures_of("outbox_prune")

    with poisoned("outbox_dispatches", *poison):
        tasks.prune()

        assert left(shop, other_shop) == set(poison)
        assert failures_of("outbox_prune") == before + 3


def test_prune_leaves_what_has_not_ended(shop):
    long_ago = timezone.now() - timedelta(days=400)
    kept = {make_dispatch(shop, status=status, due_at=long_ago).pk for status in ("pending", "processing")}

    tasks.prune()

    assert left(shop) == kept


def test_prune_keeps_as_long_as_is_set(shop, settings):
    settings.OUTBOX_KEEP_DAYS = 400
    kept = ended(shop, days_ago=399)

    tasks.prune()

    assert left(shop) == {kept}


def test_prune_works_in_batches_from_the_oldest(shop, monkeypatch):
    newest, *_ = made = [ended(shop, days_ago=days) for days in (31, 32, 33)]

    assert prune_dispatches(max_age=timedelta(days=30), batch=2) == (2, [])
    assert left(shop) == {newest}

    made += [ended(shop, days_ago=40) for _ in range(4)]
    monkeypatch.setattr(tasks, "PRUNE_BATCH", 2)
    monkeypatch.setattr(tasks, "PRUNE_BATCHES", 2)
    tasks.prune()
    assert left(shop) == {newest}


def test_prune_keeps_to_its_batch_whatever_plan_the_planner_makes(shop):
    *_, newest = [ended(shop, days_ago=days) for days in (33, 32, 31)]

    with connection.cursor() as cursor:
        # Leaves a nested loop, which the planner chooses for a table that was analysed with few rows.
        for kind in ("hashjoin", "mergejoin", "hashagg", "sort", "material"):
            cursor.execute(f"SET LOCAL enable_{kind} = off")
        cursor.execute("DISCARD PLANS")
        pruned = prune_dispatches(max_age=timedelta(days=30), batch=2)

    assert (pruned, left(shop)) == ((2, []), {newest})


def test_prune_is_scheduled():
    assert app.conf.beat_schedule["prune-outbox"]["task"] == tasks.prune.name

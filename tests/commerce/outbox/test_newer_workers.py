"""Dispatches that this release can't run are left to workers of a newer one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests.commerce.outbox.rows import make_due, reread
from tests.factories import make_dispatch


@pytest.mark.parametrize("version", [1, 2])
def test_run_takes_payloads_up_to_the_newest_version_known(shop, handle, version):
    ran = handle("example", newest_version=2)
    make_dispatch(shop, payload_version=version)

    run_due()

    assert len(ran) == 1


def test_run_leaves_newer_payloads_and_unknown_tasks_to_newer_workers(shop, handle):
    ran = handle("example", newest_version=2)
    newer = make_dispatch(shop, payload_version=3)
    unknown = make_dispatch(shop, task_name="unknown")

    before = timezone.now()
    run_due()

    assert ran == []
    left = reread(shop, newer)
    assert (left.status, left.attempts, left.locked_until) == ("pending", 0, None)
    assert left.last_error == "UnknownTask: No handler for 'example' version 3."
    assert timedelta(seconds=29) < left.due_at - before < timedelta(seconds=60)
    assert (reread(shop, unknown).status, reread(shop, unknown).attempts) == ("pending", 0)


def test_run_leaves_a_payload_to_newer_workers_for_as_long_as_it_takes(shop, handle):
    handle("example", newest_version=2)
    newer = make_dispatch(shop, payload_version=3)
    for _ in range(10):
        run_due()
        make_due(shop, newer)

    ran = handle("example", newest_version=3)
    run_due()

    assert ran == [newer.pk]
    assert (reread(shop, newer).status, reread(shop, newer).attempts) == ("succeeded", 0)


@pytest.mark.parametrize("target", [{}, {"task_name": None}, []])
def test_dispatch_of_no_task_is_left_alone(shop, handle, target):
    ran = handle("example")
    odd = make_dispatch(shop, due_at=timezone.now() - timedelta(minutes=1))
    with shop.scope():
        OutboxDispatch.objects.filter(pk=odd.pk).update(target=target)
    good = make_dispatch(shop)

    run_due()

    assert ran == [good.pk]
    assert (reread(shop, odd).status, reread(shop, odd).attempts) == ("pending", 0)


def test_dispatch_of_another_type_is_left_to_newer_workers(shop, handle):
    ran = handle("example")
    other = make_dispatch(shop, dispatch_type="stream")

    run_due()

    assert ran == []
    left = reread(shop, other)
    assert (left.status, left.last_error) == (
        "pending",
        "UnknownTask: No handler for a dispatch of the type 'stream'.",
    )

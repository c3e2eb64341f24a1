"""Batches in which something fails: the trouble of one dispatch is not that of the others."""

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.outbox import crew
from commerce.outbox.handlers import Outcome
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests.commerce.outbox.batches import AT_MOST, columns, ends, make_several, run_quickly
from tests.commerce.outbox.rows import reread
from tests.factories import make_dispatch
from tests.poison import poisoned

HOUR = timedelta(hours=1)


def test_error_of_a_whole_batch_is_counted_by_the_one_that_raises_it(shop, batches):
    def work(dispatch):
        if dispatch.payload.get("is_bad"):
            raise RuntimeError("no luck")
        return Outcome()

    kind = batches(work)
    run_quickly(shop, kind)
    good = make_several(shop, 2)
    bad = make_dispatch(shop, task_name="example", payload={"is_bad": True})
    good += make_several(shop, 1)

    run_due()

    # Together, then each by itself.
    assert kind.sizes[:5] == [4, 1, 1, 1, 1]
    assert set(ends(shop, good)) == {("succeeded", 0)}
    assert ends(shop, [bad]) == [("pending", 1)]
    assert reread(shop, bad).last_error == "RuntimeError: no luck"
    assert sorted(kind.recorded) == sorted(dispatch.pk for dispatch in good)


def test_dispatches_that_a_batch_leaves_are_released_as_they_were(shop, batches):
    """The first of each batch is run, and the rest is left."""
    batch = []

    def work(dispatch):
        batch.append(dispatch.pk)
        return Outcome() if len(batch) == 1 else None

    kind = batches(work)
    run_quickly(shop, kind)
    made = make_several(shop, 3, due_at=timezone.now() - HOUR, last_error="Earlier.", attempts=2)
    before = [columns(shop, dispatch) for dispatch in made]

    run_due(within=timedelta(0))

    assert kind.sizes == [3]
    changed = [columns(shop, dispatch) != held for dispatch, held in zip(made, before, strict=True)]
    assert changed == [True, False, False]
    assert ends(shop, made[:1]) == [("succeeded", 2)]


@pytest.mark.django_db(transaction=True)
def test_result_that_can_not_be_stored_fails_alone(shop, batches):
    kind = batches()
    run_quickly(shop, kind)
    made = make_several(shop, 3)

    with poisoned("outbox_dispatches", made[1].pk, when="NEW.status = 'succeeded'"):
        run_due()

    assert kind.sizes[0] == 3
    assert ends(shop, made) == [("succeeded", 0), ("pending", 1), ("succeeded", 0)]


@pytest.mark.usefixtures("quick")
def test_dispatch_that_another_worker_has_taken_over_is_not_recorded(shop, batches):
    made = make_several(shop, 3)

    def work(dispatch):
        if dispatch == made[2]:
            with shop.scope():
                taken_over = OutboxDispatch.objects.filter(pk=made[1].pk)
                taken_over.update(locked_until=timezone.now() + HOUR)
        return Outcome()

    kind = batches(work)

    run_due()

    assert ends(shop, made) == [("succeeded", 0), ("processing", 0), ("succeeded", 0)]
    assert sorted(kind.recorded) == [made[0].pk, made[2].pk]


@pytest.mark.usefixtures("quick")
def test_dispatch_whose_worker_was_lost_runs_by_itself(shop, batches):
    kind = batches()
    lost = make_several(shop, 2, status="processing", locked_until=timezone.now() - HOUR)
    waiting = make_several(shop, 2)

    run_due()

    assert sorted(kind.sizes) == [1, 1, 2]
    assert ends(shop, lost + waiting) == [("succeeded", 1)] * 2 + [("succeeded", 0)] * 2


@pytest.mark.usefixtures("quick")
def test_newer_payload_in_a_batch_is_left_to_a_newer_worker(shop, batches):
    kind = batches()
    old = make_several(shop, 2)
    (new,) = make_several(shop, 1, payload_version=2)

    run_due()

    assert kind.sizes == [2]
    assert ends(shop, [*old, new]) == [("succeeded", 0), ("succeeded", 0), ("pending", 0)]
    assert reread(shop, new).due_at > timezone.now()


@pytest.mark.usefixtures("quick")
def test_interrupted_batch_is_given_back_at_once(shop, batches):
    def work(dispatch):
        raise KeyboardInterrupt

    batches(work)
    made = make_several(shop, 2)

    with pytest.raises(KeyboardInterrupt):
        run_due()

    assert ends(shop, made) == [("pending", 1), ("pending", 1)]


@pytest.mark.django_db(transaction=True)
def test_row_that_can_not_be_changed_is_left_out_of_batches(shop, batches):
    kind = batches()
    run_quickly(shop, kind)
    bad = make_dispatch(shop, task_name="example", due_at=timezone.now() - HOUR)
    good = make_several(shop, 12)

    with poisoned("outbox_dispatches", bad.pk):
        run_due()

        assert set(ends(shop, good)) == {("succeeded", 0)}
        assert ends(shop, [bad]) == [("pending", 0)]


@pytest.mark.django_db(transaction=True)
def test_row_that_can_not_be_closed_leaves_the_rest_of_its_batch_alone(shop, batches):
    kind = batches()
    run_quickly(shop, kind)
    made = make_several(shop, 4)

    with poisoned("outbox_dispatches", made[0].pk, when="NEW.status <> 'processing'"):
        run_due()

    assert ends(shop, made) == [("processing", 0), *[("succeeded", 0)] * 3]


@pytest.mark.django_db(transaction=True)
def test_row_that_can_not_be_released_leaves_the_rest_of_its_batch_alone(shop, batches):
    batch = []

    def work(dispatch):
        batch.append(dispatch.pk)
        return None if len(batch) == 1 else Outcome()

    kind = batches(work)
    run_quickly(shop, kind)
    made = make_several(shop, 4)

    with poisoned("outbox_dispatches", made[0].pk, when="NEW.status <> 'processing'"):
        run_due()

    assert ends(shop, made) == [("processing", 0), *[("succeeded", 0)] * 3]
    assert kind.sizes == [4, 1, 1, 1]


def test_queue_runs_singly_for_a_while_after_a_batch_that_failed(shop, batches, monkeypatch):
    monkeypatch.setattr(crew, "SINGLE_S", 3600)
    troubles = [RuntimeError("no luck")]

    def work(dispatch):
        if troubles and len(kind.sizes) and kind.sizes[-1] > 1:
            raise troubles.pop()
        return Outcome()

    kind = batches(work)
    run_quickly(shop, kind)
    made = make_several(shop, 12)

    run_due()

    assert kind.sizes == [AT_MOST] + [1] * 12
    assert set(ends(shop, made)) == {("succeeded", 0)}

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.outbox.claims import Claim, claim_dispatches
from commerce.outbox.errors import LeaseLost
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import (
    begin_dispatches,
    close_dispatch,
    close_dispatches,
    give_up_dispatch,
    release_dispatches,
    reschedule_dispatch,
    store_messages,
)
from tests.factories import make_dispatch
from tests.threads import run_threads

MINUTE = timedelta(minutes=1)


def leased(shop, *, until=MINUTE, **fields):
    """Create a dispatch claimed by a worker, with a lease that ends `until` from now."""
    locked_until = timezone.now() + until
    return make_dispatch(shop, status="processing", locked_until=locked_until, **fields)


def ids(claims):
    return {claim.dispatch_id for claim in claims}


def columns(shop, dispatch):
    with shop.scope():
        return OutboxDispatch.objects.filter(pk=dispatch.pk).values().get()


def reread(shop, dispatch):
    with shop.scope():
        return OutboxDispatch.objects.get(pk=dispatch.pk)


def test_claim_takes_due_work_of_every_account(shop, other_shop):
    first, second = make_dispatch(shop), make_dispatch(other_shop)

    claims = claim_dispatches()

    assert {(claim.account_id, claim.dispatch_id) for claim in claims} == {
        (shop.id, first.pk),
        (other_shop.id, second.pk),
    }
    assert reread(shop, first).status == "processing"
    assert reread(shop, first).attempts == 0


def test_claim_takes_the_longest_due_first(shop):
    now = timezone.now()
    later = make_dispatch(shop, due_at=now - MINUTE)
    earlier = make_dispatch(shop, due_at=now - 2 * MINUTE)

    assert ids(claim_dispatches(batch=1)) == {earlier.pk}
    assert ids(claim_dispatches(batch=1)) == {later.pk}
    assert claim_dispatches(batch=1) == []


def test_claim_leaves_what_is_not_due(shop):
    make_dispatch(shop, due_at=timezone.now() + MINUTE)
    make_dispatch(shop, status="succeeded")
    make_dispatch(shop, status="skipped")
    make_dispatch(shop, status="dead")
    make_dispatch(shop, status="cancelled")
    leased(shop)

    assert claim_dispatches() == []


def test_claim_lends_for_five_minutes(shop):
    make_dispatch(shop)

    (claim,) = claim_dispatches()

    remaining = claim.lease_until - timezone.now()
    assert timedelta(minutes=4, seconds=50) < remaining <= timedelta(minutes=5)


def test_claim_of_a_lapsed_lease_counts_as_a_retry(shop):
    lost = leased(shop, until=-MINUTE, attempts=2)

    assert ids(claim_dispatches()) == {lost.pk}

    taken_over = reread(shop, lost)
    assert taken_over.status == "processing"
    assert taken_over.attempts == 3
    assert taken_over.locked_until > timezone.now()
    assert taken_over.last_error == "The worker was lost."


def test_claim_of_a_lapsed_lease_after_the_last_retry_gives_up(shop):
    lost = leased(shop, until=-MINUTE, attempts=5)

    claims = claim_dispatches()

    assert claims == [Claim(account_id=shop.id, dispatch_id=lost.pk, lease_until=None)]
    dead = reread(shop, lost)
    assert dead.status == "dead"
    assert dead.attempts == 5
    assert dead.locked_until is None
    assert dead.finished_at is not None


def test_claim_never_takes_more_than_the_batch(shop):
    for _ in range(2):
        make_dispatch(shop)
        leased(shop, until=-MINUTE)

    assert len(claim_dispatches(batch=3)) == 3
    assert len(claim_dispatches(batch=3)) == 1


def test_begin_renews_the_lease(shop):
    make_dispatch(shop)
    (claim,) = claim_dispatches(lease=MINUTE)

    with shop.scope():
        (dispatch,) = begin_dispatches(claims=[claim])

    assert dispatch.locked_until > claim.lease_until + 3 * MINUTE


def test_begin_leaves_out_a_dispatch_that_was_taken_over(shop):
    make_dispatch(shop)
    (claim,) = claim_dispatches(lease=-MINUTE)
    (rival,) = claim_dispatches()

    with shop.scope():
        assert begin_dispatches(claims=[claim]) == []
        assert OutboxDispatch.objects.get().locked_until == rival.lease_until


@pytest.mark.parametrize(
    "write",
    [
        lambda dispatch: close_dispatch(
            dispatch=dispatch, status=OutboxDispatch.Status.SUCCEEDED, now=timezone.now()
        ),
        lambda dispatch: reschedule_dispatch(dispatch=dispatch, error="Late", now=timezone.now()),
        lambda dispatch: give_up_dispatch(dispatch=dispatch, error="Late", now=timezone.now()),
    ],
    ids=["close", "reschedule", "bury"],
)
def test_write_of_a_worker_whose_lease_was_taken_over_changes_nothing(shop, write):
    stale = leased(shop, until=-MINUTE)
    claim_dispatches()
    taken_over = reread(shop, stale)

    with shop.scope(), pytest.raises(LeaseLost):
        write(stale)

    unchanged = reread(shop, stale)
    assert unchanged.status == "processing"
    assert unchanged.locked_until == taken_over.locked_until
    assert unchanged.last_error == taken_over.last_error
    assert unchanged.message is None


@pytest.mark.parametrize(
    "write",
    [
        lambda *dispatches: store_messages({dispatch: {"subject": "Late"} for dispatch in dispatches}),
        lambda *dispatches: close_dispatches(
            dict.fromkeys(dispatches, OutboxDispatch.Status.SUCCEEDED), now=timezone.now()
        ),
        lambda *dispatches: release_dispatches(dispatches),
    ],
    ids=["store_messages", "close", "release"],
)
def test_write_of_several_changes_only_those_whose_lease_is_held(shop, write):
    held, stale = leased(shop, until=MINUTE), leased(shop, until=-MINUTE)
    claim_dispatches()
    before = columns(shop, held), columns(shop, stale)

    with shop.scope():
        write(held, stale)

    assert columns(shop, held) != before[0]
    assert columns(shop, stale) == before[1]


@pytest.mark.django_db(transaction=True)
def test_claims_of_four_threads_take_each_dispatch_once(shop):
    made = {make_dispatch(shop).pk for _ in range(200)}

    def claim_all(_index):
        taken = []
        while claims := claim_dispatches(batch=7):
            taken += [claim.dispatch_id for claim in claims]
        return taken

    results = run_threads(4, claim_all)

    taken = [dispatch_id for result in results for dispatch_id in result]
    assert len(taken) == 200
    assert set(taken) == made

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.outbox.claims import claim_dispatches
from commerce.outbox.models import OutboxDispatch
from tests.factories import make_dispatch
from tests.problems import problem
from tests.threads import run_threads


def cancel(shop, dispatch, client=None):
    return (client or shop.admin).post(f"outbox_dispatches/{dispatch.pk}/cancel.json")


def test_cancel_calls_waiting_work_off(shop):
    dispatch = make_dispatch(shop, attempts=2)

    response = cancel(shop, dispatch)

    shown = response.json()["outbox_dispatch"]
    assert response.status_code == 200
    assert (shown["status"], shown["attempts"]) == ("cancelled", 2)
    assert shown["finished_at"] is not None
    assert claim_dispatches() == []


def test_cancel_closes_work_that_was_given_up(shop):
    dispatch = make_dispatch(shop, status="dead", attempts=5, finished_at=timezone.now() - timedelta(days=1))

    shown = cancel(shop, dispatch).json()["outbox_dispatch"]

    assert (shown["status"], shown["attempts"]) == ("cancelled", 5)


def test_cancel_repeated_answers_the_same(shop):
    dispatch = make_dispatch(shop)

    assert cancel(shop, dispatch).json() == cancel(shop, dispatch).json()


@pytest.mark.parametrize("status", ["processing", "succeeded", "skipped"])
def test_cancel_of_any_other_status_is_refused(shop, status):
    dispatch = make_dispatch(shop, status=status)

    response = cancel(shop, dispatch)

    assert problem(response) == (409, "dispatch_not_cancellable")
    assert response.json()["dispatch_status"] == status
    with shop.scope():
        assert OutboxDispatch.objects.get().status == status


def test_cancel_of_an_unknown_or_foreign_dispatch_is_not_found(shop, other_shop):
    foreign = make_dispatch(other_shop)

    assert problem(cancel(shop, foreign)) == (404, "not_found")
    with other_shop.scope():
        assert OutboxDispatch.objects.get().status == "pending"


def test_cancelled_dispatch_can_be_retried(shop):
    dispatch = make_dispatch(shop)
    cancel(shop, dispatch)

    response = shop.admin.post(f"outbox_dispatches/{dispatch.pk}/retry.json")

    assert response.json()["outbox_dispatch"]["status"] == "pending"


def test_cancel_needs_the_right_to_write(shop):
    dispatch = make_dispatch(shop, task_name="send_email")

    assert problem(cancel(shop, dispatch, shop.client_with("read_emails"))) == (403, "insufficient_scope")
    assert cancel(shop, dispatch, shop.client_with("write_emails")).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_cancel_and_claim_at_once_have_one_winner(shop):
    for _ in range(10):
        dispatch = make_dispatch(shop)

        answer, claims = run_threads(
            2, lambda index, dispatch=dispatch: claim_dispatches() if index else cancel(shop, dispatch)
        )

        assert (answer.status_code == 200) == (claims == [])
        with shop.scope():
            found = OutboxDispatch.objects.get(pk=dispatch.pk)
            assert found.status == ("processing" if claims else "cancelled")

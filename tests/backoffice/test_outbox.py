"""The outbox: what is shown of a dispatch, and the actions on it."""

from datetime import UTC, datetime

import pytest
from django.utils.html import escape

from commerce.backoffice.models import StaffAction
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.backoffice.clients import messages_of

LIST = "outbox/outboxdispatch/"


def page_of(dispatch, *parts):
    return "/".join([f"{LIST}{dispatch.pk}", *(parts or ["change"]), ""])


def statuses(shop):
    with shop.scope():
        return dict(OutboxDispatch.objects.values_list("pk", "status"))


def logged(shop):
    with shop.scope():
        return list(StaffAction.objects.values_list("subject", "subject_id", "summary"))


def test_page_shows_all_that_is_known_of_a_dispatch(shop, support):
    dispatch = factories.make_dispatch(
        shop,
        status="processing",
        attempts=3,
        due_at=datetime(2026, 11, 20, 8, 30, tzinfo=UTC),
        locked_until=datetime(2026, 11, 20, 9, 45, tzinfo=UTC),
        last_error="RuntimeError: <no luck>",
        payload={"template_key": "order.confirmation", "ctx": {"order": {"number": "1001"}}},
    )

    page = support.get(page_of(dispatch)).content.decode()

    for text in ("Processing", "8:30", "9:45", "RuntimeError: &lt;no luck&gt;", dispatch.idempotency_key):
        assert text in page
    assert escape('"ctx": {\n    "order": {\n      "number": "1001"\n') in page


@pytest.mark.parametrize("status", ["dead", "cancelled"])
def test_ended_dispatch_is_retried_from_its_page(shop, owner, status):
    dispatch = factories.make_dispatch(shop, status=status, attempts=5)

    answer = owner.confirm(page_of(dispatch, "retry_this"))

    assert messages_of(answer) == ["The dispatch runs at once."]
    with shop.scope():
        dispatch.refresh_from_db()
    assert (dispatch.status, dispatch.attempts, dispatch.finished_at) == ("pending", 0, None)
    assert logged(shop) == [("outbox.outboxdispatch", dispatch.pk, "The dispatch runs at once.")]


def test_waiting_dispatch_is_cancelled_from_its_page(shop, owner):
    dispatch = factories.make_dispatch(shop)

    answer = owner.confirm(page_of(dispatch, "cancel_this"))

    assert messages_of(answer) == ["The dispatch is cancelled."]
    assert statuses(shop) == {dispatch.pk: "cancelled"}
    assert logged(shop) == [("outbox.outboxdispatch", dispatch.pk, "The dispatch is cancelled.")]


@pytest.mark.parametrize("status", ["pending", "processing", "succeeded", "skipped"])
def test_retry_of_any_other_status_is_refused(shop, owner, status):
    dispatch = factories.make_dispatch(shop, status=status)

    answer = owner.confirm(page_of(dispatch, "retry_this"))

    said = f"Dispatch {dispatch.pk} is {status}: only a dead or cancelled one can be retried."
    assert messages_of(answer) == [said]
    assert (statuses(shop), logged(shop)) == ({dispatch.pk: status}, [])


@pytest.mark.parametrize("status", ["processing", "succeeded", "skipped"])
def test_cancellation_of_what_does_not_wait_is_refused(shop, owner, status):
    dispatch = factories.make_dispatch(shop, status=status)

    answer = owner.confirm(page_of(dispatch, "cancel_this"))

    assert messages_of(answer) == [
        f"Dispatch {dispatch.pk} is {status}: only a pending or dead one can be cancelled."
    ]
    assert (statuses(shop), logged(shop)) == ({dispatch.pk: status}, [])


@pytest.mark.parametrize("action", ["retry_this", "cancel_this"])
def test_support_may_not_retry_or_cancel(shop, support, action):
    dispatch = factories.make_dispatch(shop, status="dead")

    answer = support.confirm(page_of(dispatch, action))

    assert answer.status_code == 403
    assert statuses(shop) == {dispatch.pk: "dead"}


@pytest.mark.parametrize("action", ["retry_this", "cancel_this"])
def test_dispatch_of_another_shop_is_not_found(shop, other_shop, owner, action):
    dispatch = factories.make_dispatch(other_shop, status="dead")

    answer = owner.confirm(page_of(dispatch, action))

    assert answer.status_code == 404
    assert statuses(other_shop) == {dispatch.pk: "dead"}


def test_dead_dispatches_are_retried_from_the_list(shop, owner):
    dead = [factories.make_dispatch(shop, status="dead", attempts=5) for _ in range(2)]

    answer = owner.act(LIST, "retry", *(dispatch.pk for dispatch in dead))

    assert messages_of(answer) == ["2 dispatches retried."]
    assert statuses(shop) == {dispatch.pk: "pending" for dispatch in dead}


def test_retry_of_several_happens_whole_or_not_at_all(shop, owner):
    dead = factories.make_dispatch(shop, status="dead")
    done = factories.make_dispatch(shop, status="succeeded")

    answer = owner.act(LIST, "retry", dead.pk, done.pk)

    said = f"Dispatch {done.pk} is succeeded: only a dead or cancelled one can be retried."
    assert messages_of(answer) == [said]
    assert statuses(shop) == {dead.pk: "dead", done.pk: "succeeded"}


def test_waiting_dispatches_are_cancelled_from_the_list(shop, owner):
    waiting = [factories.make_dispatch(shop) for _ in range(2)]

    owner.act(LIST, "cancel", *(dispatch.pk for dispatch in waiting))

    assert statuses(shop) == {dispatch.pk: "cancelled" for dispatch in waiting}


def test_overview_leads_to_the_dead(shop, other_shop, owner):
    dead = factories.make_dispatch(shop, status="dead")
    factories.make_dispatch(shop, status="pending")
    factories.make_dispatch(other_shop, status="dead")

    one = next(one for one in owner.get().context["tasks"] if one.count)
    listed = owner.browser.get(one.task.link).context["cl"].result_list

    assert (one.task.title, one.text, one.is_alarming) == ("Other work that failed", "1", True)
    assert [row.pk for row in listed] == [dead.pk]


def test_overview_without_dead_dispatches_alarms_nobody(owner):
    assert not any(one.is_alarming for one in owner.get().context["tasks"])


@pytest.mark.parametrize("action", ["retry_this", "cancel_this"])
def test_webhooks_are_changed_by_owners_alone(shop, owner, staff_of, action):
    staff = staff_of(shop, role="manager")
    webhook = factories.make_dispatch(shop, task_name="deliver_webhook", status="dead")
    refund = factories.make_dispatch(shop, task_name="refund_payment", status="dead")

    listed = staff.get(LIST).content.decode()
    staff.confirm(page_of(webhook, action))
    staff.act(LIST, action.removesuffix("_this"), webhook.pk)

    assert f"/{refund.pk}/change/" in listed
    assert f"/{webhook.pk}/change/" in listed
    assert statuses(shop) == {webhook.pk: "dead", refund.pk: "dead"}
    owner.confirm(page_of(webhook, action))
    assert statuses(shop)[webhook.pk] != "dead"

import pytest
from django.utils import timezone

from commerce.outbox.claims import claim_dispatches
from commerce.outbox.models import OutboxDispatch
from tests.factories import make_dispatch


@pytest.mark.parametrize("status", ["dead", "cancelled"])
def test_retry_makes_the_dispatch_due_with_all_its_retries(shop, status):
    dispatch = make_dispatch(
        shop, status=status, attempts=5, finished_at=timezone.now(), last_error="RuntimeError: no luck"
    )

    response = shop.admin.post(f"outbox_dispatches/{dispatch.pk}/retry.json")

    shown = response.json()["outbox_dispatch"]
    assert response.status_code == 200
    assert shown["status"] == "pending"
    assert shown["attempts"] == 0
    assert shown["finished_at"] is None
    assert shown["last_error"] == "RuntimeError: no luck"
    assert [claim.dispatch_id for claim in claim_dispatches()] == [dispatch.pk]


@pytest.mark.parametrize("status", ["pending", "processing", "succeeded", "skipped"])
def test_retry_of_any_other_status_is_refused(shop, status):
    dispatch = make_dispatch(shop, status=status, attempts=2)

    response = shop.admin.post(f"outbox_dispatches/{dispatch.pk}/retry.json")

    assert response.status_code == 409
    assert response.json()["code"] == "dispatch_not_retryable"
    assert response.json()["dispatch_status"] == status
    with shop.scope():
        unchanged = OutboxDispatch.objects.get()
    assert (unchanged.status, unchanged.attempts) == (status, 2)


def test_retry_of_an_unknown_dispatch_is_not_found(shop):
    response = shop.admin.post("outbox_dispatches/1/retry.json")

    assert response.status_code == 404


def test_retry_needs_the_right_to_write(shop):
    dispatch = make_dispatch(shop, task_name="send_email", status="dead")
    path = f"outbox_dispatches/{dispatch.pk}/retry.json"

    response = shop.client_with("read_emails").post(path)

    assert response.status_code == 403
    with shop.scope():
        assert OutboxDispatch.objects.get().status == "dead"
    assert shop.client_with("write_emails").post(path).status_code == 200

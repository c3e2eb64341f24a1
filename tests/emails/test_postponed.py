"""Messages that wait for a server are sent when their wait ends."""

import pytest

from commerce.outbox.models import OutboxDispatch
from tests.commerce.outbox.celery_worker import running_worker, wait_for


@pytest.mark.django_db(transaction=True)
def test_postponed_work_runs_when_it_is_due_again(shop, renderer, mail_dir, enqueue_email, tmp_path):
    """No poll finds it, as only a worker runs."""
    usual = renderer.answer
    renderer.refuse(503, "renderer_busy")
    for number in range(6):
        enqueue_email(shop, key=f"email-{number}")

    def read():
        with shop.scope():
            return list(OutboxDispatch.objects.order_by("pk"))

    with running_worker(tmp_path, RENDERER_URL=renderer.url, MAIL_DIR=str(mail_dir)):
        wait_for(lambda: all(row.last_error for row in read()))
        due = [row.due_at for row in read()]
        renderer.status, renderer.answer = 200, usual
        wait_for(lambda: all(row.finished_at for row in read()))

    assert [(row.status, row.attempts) for row in read()] == [("succeeded", 0)] * 6
    assert all(row.finished_at >= due_at for row, due_at in zip(read(), due, strict=True))

"""Messages that wait for a server are sent when their wait ends."""

import pytest

from commerce.outbox.models import OutboxDispatch
from tests.commerce.outbox.celery_worker import running_worker, wait_for


@pytest.mark.django_db(transaction=True)
def test_postponed_work_runs_when_it_is_due_again(shop, renderer, mail_dir, enqueue_email, tmp_path):
    """No poll finds it, as only a worker runs."""
    usual = renderer.answer
    renderer.refuse(503, "renderer_busy")
    email = enqueue_email(shop)

    def read():
        with shop.scope():
            return OutboxDispatch.objects.get(pk=email.pk)

    with running_worker(tmp_path, RENDERER_URL=renderer.url, MAIL_DIR=str(mail_dir)):
        wait_for(lambda: read().last_error)
        due_at = read().due_at
        renderer.status, renderer.answer = 200, usual
        wait_for(lambda: read().finished_at)

    assert (read().status, read().attempts) == ("succeeded", 0)
    assert read().finished_at >= due_at

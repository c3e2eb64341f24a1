import pytest

from commerce.outbox.models import OutboxDispatch
from config.celery import app
from tests.commerce.outbox.celery_worker import running_worker, wait_for
from tests.factories import make_dispatch


def test_poll_is_scheduled():
    assert app.conf.beat_schedule["drain-outbox"] == {
        "task": "commerce.outbox.tasks.drain",
        "schedule": 5.0,
        "options": {"expires": 5.0},
    }


@pytest.mark.django_db(transaction=True)
def test_worker_runs_a_dispatch_when_it_is_committed_and_stops_when_told(shop, tmp_path):
    def last_error(dispatch):
        with shop.scope():
            return OutboxDispatch.objects.get(pk=dispatch.pk).last_error

    before = make_dispatch(shop, task_name="before")
    with running_worker(tmp_path):
        wait_for(lambda: last_error(before))
        listening = make_dispatch(shop, task_name="while listening")
        wait_for(lambda: last_error(listening))

    assert [last_error(one) for one in (before, listening)] == [
        "UnknownTask: No handler for 'before' version 1.",
        "UnknownTask: No handler for 'while listening' version 1.",
    ]

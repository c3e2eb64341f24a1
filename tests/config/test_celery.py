"""Celery's tasks and the connections of the processes that run them."""

from types import SimpleNamespace

import pytest
from celery.concurrency.prefork import TaskPool
from django.db import connection

from config.celery import PoolKeepingFixup, app
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def fixup(monkeypatch):
    """The fixup as in a worker with processes."""
    (fixup,) = app._fixups
    monkeypatch.setattr(fixup.worker_fixup, "worker", SimpleNamespace(pool_cls=TaskPool))
    return fixup.worker_fixup


def select_one(_):
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        answer = cursor.fetchone()
    connection.close()
    return answer


def test_pool_outlives_a_task(fixup):
    task = SimpleNamespace(request=SimpleNamespace(is_eager=False))
    select_one(None)
    pool = connection.pool

    fixup.on_task_prerun(task)
    fixup.on_task_postrun(task)

    assert isinstance(fixup, PoolKeepingFixup)
    assert fixup._is_prefork()
    assert connection.pool is pool
    assert not pool.closed
    assert run_threads(4, select_one) == [(1,)] * 4


def test_connection_of_a_task_goes_back_to_the_pool(fixup):
    connection.ensure_connection()

    fixup.close_database()

    assert connection.connection is None

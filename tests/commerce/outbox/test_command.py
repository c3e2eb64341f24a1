from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from commerce.outbox.management.commands import outbox
from commerce.outbox.models import OutboxDispatch
from tests.factories import make_dispatch

DUE_AT = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def run(capsys, *arguments):
    call_command("outbox", *map(str, arguments))
    return capsys.readouterr().out.splitlines()


def statuses(shop):
    with shop.scope():
        return list(OutboxDispatch.objects.order_by("pk").values_list("status", "attempts"))


def test_status_counts_by_account_task_and_status(shop, other_shop, capsys):
    for status in ("dead", "pending", "dead"):
        make_dispatch(shop, task_name="send_email", status=status, due_at=DUE_AT)
    make_dispatch(other_shop, task_name="other", due_at=DUE_AT)

    lines = run(capsys, "status")

    of_shop = [
        f"{shop.id}\tsend_email\tdead\t2\t2026-11-20T09:30:00+00:00",
        f"{shop.id}\tsend_email\tpending\t1\t2026-11-20T09:30:00+00:00",
    ]
    assert lines == [*of_shop, f"{other_shop.id}\tother\tpending\t1\t2026-11-20T09:30:00+00:00"]
    assert run(capsys, "status", "--account", shop.id) == of_shop


def test_retry_restarts_the_named_dispatches(shop, capsys):
    make_dispatch(shop, status="dead", attempts=5)
    chosen = make_dispatch(shop, status="dead", attempts=5)

    assert run(capsys, "retry", shop.id, chosen.pk) == ["retried 1"]

    assert statuses(shop) == [("dead", 5), ("pending", 0)]


def test_retry_without_ids_restarts_every_dead_dispatch(shop, other_shop, capsys):
    for status in ("dead", "cancelled", "dead"):
        make_dispatch(shop, status=status)
    make_dispatch(other_shop, status="dead")

    assert run(capsys, "retry", shop.id) == ["retried 2"]

    assert [status for status, _ in statuses(shop)] == ["pending", "cancelled", "pending"]
    assert [status for status, _ in statuses(other_shop)] == ["dead"]


def test_retry_of_what_cannot_be_retried_changes_nothing(shop, other_shop):
    dead, done = make_dispatch(shop, status="dead"), make_dispatch(shop, status="succeeded")
    foreign = make_dispatch(other_shop, status="dead")

    not_dead = f"Dispatch {done.pk} is succeeded: only a dead or cancelled one can be retried."
    for dispatch, reason in ((done, not_dead), (foreign, "Not found.")):
        with pytest.raises(CommandError) as refused:
            call_command("outbox", "retry", shop.id, dead.pk, dispatch.pk)
        assert str(refused.value) == f"Nothing was retried. {dispatch.pk}: {reason}"

    assert [status for status, _ in statuses(shop)] == ["dead", "succeeded"]


def test_tail_shows_what_ends_once(shop, other_shop, capsys, monkeypatch):
    monkeypatch.setattr(outbox, "_LOOK_EVERY_S", 0.05)
    make_dispatch(shop, status="succeeded", finished_at=DUE_AT)
    # After the command has started to look, however long that takes.
    soon = timezone.now() + timedelta(minutes=1)
    ended = make_dispatch(shop, status="dead", finished_at=soon, last_error="RuntimeError: no luck")
    make_dispatch(other_shop, status="dead", finished_at=soon)

    (line,) = run(capsys, "tail", shop.id, "--for", "0.3")

    assert line == f"{soon:%Y-%m-%dT%H:%M:%S}\t{ended.pk}\texample\tdead\tRuntimeError: no luck"

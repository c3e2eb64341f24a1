"""Enqueues work in the transaction that it follows from."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from commerce.outbox.claims import LEASE
from commerce.outbox.models import KeySpace, OutboxDispatch
from commerce.rest.logs import request_id
from commerce.tenancy.instances import LateText, post_rows


def enqueue(
    *,
    task_name: str,
    payload: dict[str, object],
    idempotency_key: str,
    now: datetime,
    payload_version: int = 1,
    late: LateText | None = None,
) -> None:
    """Enqueue `task_name`, to be run once the caller's scope has committed.

    A repeated key makes no second dispatch. The key must be made by the product: those that clients choose belong
    to `KeySpace.CALLER`. `late` is put into the payload.
    """
    enqueue_many(
        task_name=task_name,
        payloads={idempotency_key: payload},
        now=now,
        payload_version=payload_version,
        late=late,
    )


def enqueue_many(
    *,
    task_name: str,
    payloads: dict[str, dict[str, Any]],
    now: datetime,
    payload_version: int = 1,
    late: LateText | None = None,
) -> None:
    """Enqueue payloads by their idempotency keys, in one statement."""
    dispatches = [
        OutboxDispatch(
            target={"task_name": task_name},
            payload=payload,
            payload_version=payload_version,
            idempotency_key=idempotency_key,
            due_at=now,
            request_id=request_id.get(),
        )
        for idempotency_key, payload in payloads.items()
    ]
    # A key that is taken is skipped by the database. A check beforehand would miss a concurrent request's row.
    post_rows(dispatches, skips_conflicts=True, late=None if late is None else late.within("payload"))


def enqueue_held(
    *, task_name: str, payload: Mapping[str, object], idempotency_key: str, now: datetime
) -> OutboxDispatch | None:
    """Enqueue a dispatch under a client's own key, already leased to this request, which runs and closes it.

    A worker takes it over if the lease runs out. None if the client has used the key before.
    """
    dispatch, is_new = OutboxDispatch.objects.get_or_create(
        key_space=KeySpace.CALLER,
        idempotency_key=idempotency_key,
        defaults={
            "target": {"task_name": task_name},
            "payload": payload,
            "due_at": now,
            "request_id": request_id.get(),
            "status": OutboxDispatch.Status.PROCESSING,
            "locked_until": now + LEASE,
        },
    )
    return dispatch if is_new else None

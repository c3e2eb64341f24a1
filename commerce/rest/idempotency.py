"""`Idempotency-Key`: the same request sent twice is done once and answered twice the same."""

import hashlib
from collections.abc import Callable

import orjson
from django.db import connection
from django.http import HttpRequest, HttpResponse

from commerce.tenancy.scope import account_in_scope, current_account_id, workspace_in_scope

from .errors import IdempotencyKeyInvalid, IdempotencyKeyReused, RequestInProgress

HEADER = "Idempotency-Key"

# One statement takes the lock and looks for the answer. Its snapshot may be older than the lock, so
# that an answer committed in between is missed; the unique key then refuses the second record.
_CLAIM = """
    SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0)), r.fingerprint, r.status, r.body
      FROM (VALUES (1)) AS one
      LEFT JOIN {table} r ON r.{owner} = %s AND r.surface = %s AND r.key = %s
"""
_STORE = """
    INSERT INTO {table} ({owner}, surface, key, fingerprint, status, body, created_at)
    VALUES (%s, %s, %s, %s, %s, %s, now())
"""


def key_of(request: HttpRequest) -> str | None:
    """The request's key, or None; raises `IdempotencyKeyInvalid`."""
    key = request.headers.get(HEADER)
    if key is None:
        return None
    key = key.strip()
    if not 1 <= len(key) <= 255 or not key.isprintable():
        raise IdempotencyKeyInvalid
    return key


def answer_once(
    request: HttpRequest,
    *,
    surface: str,
    key: str,
    hidden: tuple[str, ...],
    respond: Callable[[], HttpResponse],
) -> HttpResponse:
    """Replay the stored answer of this key, or respond and store the answer in the same transaction.

    A refused request is rolled back and leaves no record, so that it can be sent again. Fields named in
    `hidden` are secrets that are shown once: they are stored, and replayed, as null.
    Raises `RequestInProgress` and `IdempotencyKeyReused`.
    """
    table, owner, owner_id = _place()
    names = {"table": table, "owner": owner}
    fingerprint = fingerprint_of(request)
    with connection.cursor() as cursor:
        lock = f"{owner_id}:{surface}:{key}"
        cursor.execute(_CLAIM.format(**names), [lock, owner_id, surface, key])
        is_ours, stored_fingerprint, status, body = cursor.fetchone()
    if status is not None:
        return _replay(bytes(stored_fingerprint) == fingerprint, status, bytes(body))
    if not is_ours:
        raise RequestInProgress
    response = _rendered(respond())
    if response.status_code < 400:
        kept = without(response.content, hidden)
        with connection.cursor() as cursor:
            cursor.execute(
                _STORE.format(**names), [owner_id, surface, key, fingerprint, response.status_code, kept]
            )
    return response


def fingerprint_of(request: HttpRequest) -> bytes:
    """SHA-256 of method, path and body; a body of the same JSON in other words is the same body."""
    try:
        body = orjson.dumps(orjson.loads(request.body), option=orjson.OPT_SORT_KEYS)
    except orjson.JSONDecodeError:
        body = request.body
    return hashlib.sha256(
        b"\n".join([request.method.encode(), request.get_full_path().encode(), body])
    ).digest()


def without(content: bytes, hidden: tuple[str, ...]) -> bytes:
    """The answer with its secrets set to null."""
    if not hidden:
        return content
    document = orjson.loads(content)
    for resource in document.values():
        resource.update({name: None for name in hidden if name in resource})
    return orjson.dumps(document)


def _place() -> tuple[str, str, object]:
    if account_in_scope() is not None:
        return "idempotency_records", "account_id", current_account_id()
    return "workspace_idempotency_records", "workspace_id", workspace_in_scope()


def _replay(is_same_request: bool, status: int, body: bytes) -> HttpResponse:
    if not is_same_request:
        raise IdempotencyKeyReused
    headers = {"Idempotent-Replayed": "true"}
    return HttpResponse(body, status=status, content_type="application/json", headers=headers)


def _rendered(response: HttpResponse) -> HttpResponse:
    render = getattr(response, "render", None)
    return render() if callable(render) else response

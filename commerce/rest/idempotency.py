"""`Idempotency-Key`: a repeated request is executed once and gets the same answer.

A request of one transaction stores its answer in that transaction. One that calls an outside service has several: it
claims its key before them and stores its answer after them (docs/decisions/0006).
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

import orjson
from django.db import connection
from django.http import HttpRequest, HttpResponse
from rest_framework.response import Response

from commerce.errors import RequestInProgress
from commerce.tenancy.scope import account_in_scope, current_account_id, current_workspace_id
from commerce.tokens import read_token

from .errors import IdempotencyKeyInvalid, IdempotencyKeyReused
from .requests import ApiRequest

_HEADER = "HTTP_IDEMPOTENCY_KEY"
REPLAYED_HEADER = "Idempotent-Replayed"

# All shoppers of a shop send the same public key. If nothing else in a request identifies the shopper, a short key such
# as `1` may belong to two of them, and isn't remembered.
SHORTEST_SHARED_KEY = 16

# The answer is read by a second statement, after the lock: a single one would have a snapshot from before the lock, and
# miss an answer that was committed in between.
_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))"
_FIND = "SELECT fingerprint, status, body FROM {table} WHERE {owner} = %s AND surface = %s AND key = %s"
_STORE = """
    INSERT INTO {table} ({owner}, surface, key, fingerprint, status, body, created_at)
    VALUES (%s, %s, %s, %s, %s, %s, now())
"""

# A request that calls other services can't hold a lock in a transaction: it leaves a claim, a record of status 0. A
# claim older than any request may take belongs to a process that died.
_CLAIM = """
    INSERT INTO {table} AS r ({owner}, surface, key, fingerprint, status, body, created_at)
    VALUES (%s, %s, %s, %s, 0, '', clock_timestamp())
    ON CONFLICT ({owner}, surface, key) DO UPDATE SET created_at = excluded.created_at, status = 0
     WHERE r.{owner} = excluded.{owner} AND r.fingerprint = excluded.fingerprint
       AND (r.status = 0 AND r.created_at < clock_timestamp() - interval '2 minutes'
            OR r.status <> 0 AND r.body = %s)
    RETURNING created_at, body
"""
_FULFIL = """
    UPDATE {table} SET status = %s, body = %s
     WHERE {owner} = %s AND surface = %s AND key = %s AND status = 0 AND created_at = %s
"""
# The body of a record whose request is run again when it is repeated. Answers are JSON, so none looks like this.
_RUN_AGAIN = b"run again"
_RELEASE = """
    DELETE FROM {table} WHERE {owner} = %s AND surface = %s AND key = %s AND status = 0 AND created_at = %s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Under which key the record of a request is stored, and how.

    Fields named in `hidden` are secrets that are shown once: they are stored and replayed as null. `token_field` is the
    field of the body that holds a shopper's token, if any: requests that differ in blanks around it are the same.
    """

    surface: str
    key: str
    hidden: tuple[str, ...]
    token_field: str | None = None


def key_of(request: HttpRequest) -> str | None:
    """The request's key, or None; raises `IdempotencyKeyInvalid`."""
    # Not from `request.headers`: Django builds it from all headers when it is first read.
    key = request.META.get(_HEADER)
    if key is None:
        return None
    key = key.strip()
    # Servers and proxies differ in how they pass on other characters, if they do at all.
    if not 1 <= len(key) <= 255 or not (key.isascii() and key.isprintable()):
        raise IdempotencyKeyInvalid
    return key


def shoppers_key(
    request: HttpRequest, key: str, *, token: str | None, secret_field: str | None = None
) -> str | None:
    """The key of a shopper's record, distinct from those of other shoppers; None if it isn't stored.

    The shopper is identified by the token in the path, or by a field of the body that nobody else knows.
    """
    shopper = token or (_read_member(request, secret_field) if secret_field else None)
    if shopper is None and len(key) < SHORTEST_SHARED_KEY:
        return None
    return hashlib.sha256(f"{shopper or ''}\n{key}".encode()).hexdigest()


def _read_member(request: HttpRequest, name: str) -> str:
    """A text member of the body, or "" if there is none. Invalid bodies are refused later."""
    try:
        body = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        return ""
    value = body.get(name) if isinstance(body, dict) else None
    return read_token(value)


def answer_once(request: HttpRequest, record: Record, respond: Callable[[], HttpResponse]) -> HttpResponse:
    """Replay the stored answer of this key, or respond and store the answer in the same transaction.

    A refused request is rolled back and leaves no record, so it can be sent again. Raises `RequestInProgress` and
    `IdempotencyKeyReused`.
    """
    store = _find_store()
    place = [store.owner_id, record.surface, record.key]
    fingerprint = fingerprint_of(request, token_field=record.token_field)
    # A lock that is taken is refused instead of awaited, so that repetitions don't block threads. If two keys should
    # have the same hash, a request is refused that could have run, which does no harm.
    is_ours = _fetch(_LOCK, f"{store.owner_id}:{record.surface}:{record.key}")[0]
    # Looked up even without the lock, which may be held by another repetition that is only replaying.
    stored = _fetch(store.fill_in(_FIND), *place)
    if stored is not None:
        return _replay(*stored, fingerprint=fingerprint)
    if not is_ours:
        raise RequestInProgress
    response = _render(respond())
    if response.status_code < 400:
        kept = hide_secrets(response, record.hidden)
        with connection.cursor() as cursor:
            cursor.execute(store.fill_in(_STORE), [*place, fingerprint, response.status_code, kept])
    return response


def answer_once_across_scopes(
    request: ApiRequest, record: Record, respond: Callable[[], HttpResponse], *, knows_keys: bool
) -> HttpResponse:
    """Like `answer_once`, for a view that opens its scopes itself. The claim and the answer each have their own scope.

    A process that dies in between leaves its claim, which blocks the key for two minutes. Such a view must be safe to
    run again. A view that `knows_keys` is run again for every repetition, but never twice at once: it finds what it
    did under the key, and compares the bodies itself. Raises `RequestInProgress` and `IdempotencyKeyReused`.
    """
    with request.open_scope():
        store = _find_store()
        fingerprint = fingerprint_of(request, with_body=not knows_keys, token_field=record.token_field)
        place = [store.owner_id, record.surface, record.key]
        claim = _fetch(store.fill_in(_CLAIM), *place, fingerprint, _RUN_AGAIN)
        stored = None if claim else _fetch(store.fill_in(_FIND), *place)
    if claim is None:
        return _replay_or_wait(stored, fingerprint=fingerprint)
    claimed_at, earlier = claim
    own_claim = [*place, claimed_at]
    # What stays if the request is refused: the record of an earlier run, or none.
    kept = (200, _RUN_AGAIN) if bytes(earlier) == _RUN_AGAIN else None
    try:
        response = _render(respond())
        if response.status_code < 400:
            answer = _RUN_AGAIN if knows_keys else hide_secrets(response, record.hidden)
            kept = (response.status_code, answer)
    finally:
        # Also after an error, or the claim would block the key for two minutes.
        with request.open_scope(), connection.cursor() as cursor:
            if kept:
                cursor.execute(store.fill_in(_FULFIL), [*kept, *own_claim])
            else:
                cursor.execute(store.fill_in(_RELEASE), own_claim)
    return response


def _replay_or_wait(stored: Any, *, fingerprint: bytes) -> HttpResponse:
    """Replay the answer stored for a claim. A claim without an answer means that the request is still running."""
    if stored is None:
        raise RequestInProgress
    stored_fingerprint, status, body = stored
    # A request that is run again leaves `_RUN_AGAIN`. Since its claim wasn't given out, it is still running.
    is_running = not status or bytes(body) == _RUN_AGAIN
    if is_running and bytes(stored_fingerprint) == fingerprint:
        raise RequestInProgress
    return _replay(stored_fingerprint, status, body, fingerprint=fingerprint)


def _fetch(sql: str, *parameters: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchone()


def fingerprint_of(request: HttpRequest, *, with_body: bool = True, token_field: str | None = None) -> bytes:
    """SHA-256 of method, path and body. JSON bodies are compared by value, and a missing one equals `{}`.

    Blanks around the token in `token_field` don't count.
    """
    body = _normalise_body(request, token_field=token_field)
    parts = [str(request.method).encode(), request.get_full_path().encode()]
    return hashlib.sha256(b"\n".join([*parts, body] if with_body else parts)).digest()


def hash_body(request: HttpRequest) -> str:
    """SHA-256 of the body, compared like that of `fingerprint_of`."""
    return hashlib.sha256(_normalise_body(request)).hexdigest()


def _normalise_body(request: HttpRequest, *, token_field: str | None = None) -> bytes:
    try:
        document = orjson.loads(request.body or b"{}")
        if isinstance(document, dict) and isinstance(document.get(token_field), str):
            document[token_field] = read_token(document[token_field])
        return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        # Not JSON, or nested too deeply to serialize: the request will be refused.
        return request.body


def hide_secrets(response: HttpResponse, hidden: tuple[str, ...]) -> bytes:
    """The answer's content with its secrets set to null, to be stored.

    It is rendered once more, as the secrets may have other names in an older API version.
    """
    if not hidden:
        return response.content
    answer = cast("Response", response)
    document = orjson.loads(orjson.dumps(answer.data))
    for resource in document.values():
        resource.update({name: None for name in hidden if name in resource})
    answer.data, sent = document, answer.data
    kept = answer.rendered_content
    # The client itself is shown the secrets, this once.
    answer.data = sent
    return kept


@dataclass(frozen=True, slots=True)
class _Store:
    """The table for the answers of the current scope, and who owns them."""

    table: str
    owner: str
    owner_id: int | UUID

    def fill_in(self, sql: str) -> str:
        return sql.format(table=self.table, owner=self.owner)


def _find_store() -> _Store:
    if account_in_scope() is not None:
        return _Store("idempotency_records", "account_id", current_account_id())
    return _Store("workspace_idempotency_records", "workspace_id", current_workspace_id())


def _replay(stored_fingerprint: bytes, status: int, body: bytes, *, fingerprint: bytes) -> HttpResponse:
    if bytes(stored_fingerprint) != fingerprint:
        raise IdempotencyKeyReused
    headers = {REPLAYED_HEADER: "true"}
    return HttpResponse(bytes(body), status=status, content_type="application/json", headers=headers)


def _render(response: HttpResponse) -> HttpResponse:
    render = getattr(response, "render", None)
    return render() if callable(render) else response

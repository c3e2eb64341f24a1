"""Resolves secrets to principals. Results are cached for a few seconds per process, and invalidated by Redis."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Lock
from typing import Any
from uuid import UUID

import redis
from django.db import connection
from django.http import HttpRequest

from accounts.archiving import has_debts
from accounts.errors import AccountSuspended
from accounts.models import Account
from commerce.errors import InsufficientScope, NotFound, Unauthenticated
from commerce.principal import KeyKind, Principal
from commerce.redis import client
from commerce.rest import limits

# A revoked key must stop working within 5 s on every process, also when Redis is down.
CACHE_S = 3.0
CACHE_SIZE = 10_000

SURFACE_KINDS: dict[str, tuple[KeyKind, ...]] = {
    "admin": ("workspace", "admin"),
    "storefront": ("storefront",),
}


@dataclass(frozen=True, slots=True)
class Grant:
    """A resolved key together with the account that it was used on."""

    principal: Principal
    account_status: str | None
    expires_at: datetime | None
    resolved_at: float
    version: bytes | None = None

    @property
    def is_stale(self) -> bool:
        """Whether it was cached for too long, or its key has expired meanwhile."""
        is_over = self.expires_at is not None and self.expires_at <= datetime.now(UTC)
        return is_over or time.monotonic() - self.resolved_at > CACHE_S


# By digest and handle, in the order in which they were resolved.
_cache: dict[tuple[bytes, str | None], Grant] = {}
_cache_lock = Lock()


def secret_of(request: HttpRequest, surface: str) -> str:
    """The secret in the request for this surface; raises `Unauthenticated`."""
    secret = sent_secret(request.META, surface)
    if not secret:
        raise Unauthenticated
    return secret


def sent_secret(environ: Mapping[str, Any], surface: str) -> str:
    """The secret in the WSGI environment of a request for this surface, or an empty string."""
    if surface == "storefront":
        secret = environ.get("HTTP_X_STOREFRONT_KEY", "")
    else:
        scheme, _, secret = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        secret = secret if scheme.lower() == "bearer" else ""
    return secret.strip()


def known_principal(secret: str, *, handle: str | None) -> Principal | None:
    """Whose secret it was when this process last looked it up, if it has. Asks nobody."""
    digest = hash_secret(secret)
    grant = _cache.get((digest, handle)) or _cache.get((digest, None))
    return grant.principal if grant else None


def hash_secret(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def grant_for(secret: str, *, surface: str, handle: str | None, address: str) -> Grant:
    """Return the grant of a secret for the account `handle`. Raises `Unauthenticated`, `NotFound`, `RateLimited`.

    Unknown secrets are limited by client address, as each costs a look-up.
    """
    cached = _cache.get((hash_secret(secret), handle))
    if cached is None:
        cached = _resolve_new(secret, handle=handle, address=address)
    elif cached.is_stale:
        cached = resolve(secret, handle=handle)
    if cached.principal.kind not in SURFACE_KINDS[surface]:
        raise Unauthenticated
    return cached


def _resolve_new(secret: str, *, handle: str | None, address: str) -> Grant:
    bucket = limits.unknown_keys_bucket(address)
    limits.refuse_if_spent(bucket)
    try:
        return resolve(secret, handle=handle)
    except Unauthenticated:
        if bucket.limit:
            limits.count([bucket])
        raise


def refresh_grant(grant: Grant, secret: str, *, handle: str | None, version: bytes | None) -> Grant:
    """Return the grant, resolved again if keys or accounts of its workspace have changed since."""
    if version is None or version == grant.version:
        return grant
    if grant.version is not None:
        grant = resolve(secret, handle=handle)
    grant = replace(grant, version=version)
    _keep(hash_secret(secret), handle, grant)
    return grant


def resolve(secret: str, *, handle: str | None) -> Grant:
    """Look up a secret and its account in the database."""
    digest = hash_secret(secret)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT *, api_key_expires_at(%s) FROM resolve_api_key(%s, %s)", [digest, digest, handle]
        )
        row = cursor.fetchone()
    if row is None:
        with _cache_lock:
            _cache.pop((digest, handle), None)
        raise Unauthenticated
    key_id, kind, workspace_id, account_id, account_status, scopes, expires_at = row
    principal = Principal(
        key_id=key_id, kind=kind, workspace_id=workspace_id, account_id=account_id, scopes=frozenset(scopes)
    )
    grant = Grant(principal, account_status, expires_at, resolved_at=time.monotonic())
    _keep(digest, handle, grant)
    return grant


def _keep(digest: bytes, handle: str | None, grant: Grant) -> None:
    """Cache the grant. If the cache is full, the one that was resolved longest ago gives way."""
    with _cache_lock:
        _cache.pop((digest, handle), None)
        if len(_cache) >= CACHE_SIZE:
            del _cache[next(iter(_cache))]
        _cache[digest, handle] = grant


def require_account(grant: Grant, *, outlives_archiving: bool = False) -> int:
    """Return the id of the request's account. Raises `NotFound`, `Unauthenticated` and `AccountSuspended`.

    With `outlives_archiving`, workspace keys may still reach an archived account while money of it is outstanding.
    """
    account_id = grant.principal.account_id
    if account_id is None:
        raise NotFound
    kind = grant.principal.kind
    is_archived = grant.account_status == Account.Status.ARCHIVED
    if is_archived and outlives_archiving and kind == "workspace" and has_debts(account_id):
        return account_id
    require_open(grant.account_status, kind=kind)
    return account_id


def require_open(account_status: str | None, *, kind: KeyKind) -> None:
    """Refuse an archived or suspended shop. Raises `NotFound`, `Unauthenticated` and `AccountSuspended`."""
    if account_status == Account.Status.ARCHIVED:
        # Storefront keys of an archived shop are invalid, and its admin paths no longer exist.
        raise Unauthenticated() if kind == "storefront" else NotFound()
    if account_status == Account.Status.SUSPENDED:
        raise AccountSuspended


def require_workspace(grant: Grant) -> UUID:
    if grant.principal.kind != "workspace":
        raise InsufficientScope("This needs a workspace key.")
    return grant.principal.workspace_id


def version_name(workspace_id: UUID) -> str:
    return f"keys:{workspace_id}"


def forget_grants(workspace_id: UUID) -> None:
    """Tell every process that keys or accounts of a workspace have changed. Without Redis they notice within 3 s."""
    with _cache_lock:
        for place, grant in list(_cache.items()):
            if grant.principal.workspace_id == workspace_id:
                del _cache[place]
    try:
        client().incr(version_name(workspace_id))
    except redis.RedisError:
        return

"""Resolves secrets to principals. Results are cached for a few seconds per process, and invalidated by Redis."""

import hashlib
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any
from uuid import UUID

import redis
from django.db import connection

from accounts.archiving import has_debts
from accounts.models import Account
from commerce.errors import AccountSuspended, InsufficientScope, NotFound, Unauthenticated
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

    def is_for(self, surface: str) -> bool:
        """Whether the key is of a kind that may be used there."""
        return self.principal.kind in SURFACE_KINDS[surface]


# By digest and handle, in the order in which they were resolved.
_cache: dict[tuple[bytes, str | None], Grant] = {}
_cache_lock = Lock()


def read_secret(environ: Mapping[str, Any], surface: str) -> str:
    """Return the secret in the WSGI environment of a request for this surface, or an empty string."""
    if surface == "storefront":
        secret = environ.get("HTTP_X_STOREFRONT_KEY", "")
    else:
        scheme, _, secret = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        secret = secret if scheme.lower() == "bearer" else ""
    return secret.strip()


def find_cached_principal(secret: str, *, surface: str, handle: str | None) -> Principal | None:
    """Return whose secret it was when this process last looked it up; None if it hasn't. Makes no query.

    None also if it is a key of the other surface: a storefront key is public, and must not pass for the merchant.
    """
    digest = hash_secret(secret)
    grant = _cache.get((digest, handle)) or _cache.get((digest, None))
    return grant.principal if grant and grant.is_for(surface) else None


def hash_secret(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def authenticate(secret: str, *, surface: str, handle: str | None, address: str) -> Grant:
    """Return the grant of a secret for the account `handle`. Raises `Unauthenticated` and `RateLimited`.

    Unknown secrets are limited by client address, as each costs a look-up. So are keys of the other surface.
    """
    grant = _cache.get((hash_secret(secret), handle))
    if grant is None or not grant.is_for(surface):
        bucket = limits.unknown_keys_bucket(address)
        limits.refuse_if_spent(bucket)
        try:
            grant = resolve(secret, surface=surface, handle=handle)
        except Unauthenticated:
            # Counted only now, so that valid keys never count, however many of them use the same address.
            if bucket.limit:
                limits.count([bucket])
            raise
    elif grant.is_stale:
        grant = resolve(secret, surface=surface, handle=handle, version=grant.version)
    return grant


def refresh_grant(
    grant: Grant, secret: str, *, surface: str, handle: str | None, version: bytes | None
) -> Grant:
    """Return the grant, resolved again if keys or accounts of its workspace have changed since.

    `version` is the workspace's current one, or None if Redis doesn't answer.
    """
    if version is None or version == grant.version:
        return grant
    # Also a grant that was resolved a moment ago without a version: its key may have been revoked after that and before
    # the version was read.
    return resolve(secret, surface=surface, handle=handle, version=version)


def resolve(secret: str, *, surface: str, handle: str | None, version: bytes | None = None) -> Grant:
    """Look up a secret and its account in the database. Raises `Unauthenticated`.

    `version` is the workspace's version as read before the look-up, if any: each later change gets a later version.
    """
    digest = hash_secret(secret)
    with connection.cursor() as cursor:
        # The expiry has a function of its own, because the columns of resolve_api_key must stay as processes of an
        # earlier release know them.
        cursor.execute(
            "SELECT *, api_key_expires_at(%s) FROM resolve_api_key(%s, %s)", [digest, digest, handle]
        )
        row = cursor.fetchone()
    if row is None:
        with _cache_lock:
            _cache.pop((digest, handle), None)
            # Otherwise the front would still find whose key it was.
            _cache.pop((digest, None), None)
        raise Unauthenticated
    key_id, kind, workspace_id, account_id, account_status, scopes, expires_at = row
    principal = Principal(
        key_id=key_id, kind=kind, workspace_id=workspace_id, account_id=account_id, scopes=frozenset(scopes)
    )
    grant = Grant(principal, account_status, expires_at, resolved_at=time.monotonic(), version=version)
    if not grant.is_for(surface):
        # Not cached: the other surface may have its own grant of this key.
        raise Unauthenticated
    _store_in_cache(digest, handle, grant)
    return grant


def _store_in_cache(digest: bytes, handle: str | None, grant: Grant) -> None:
    """Cache the grant. If the cache is full, the one that was resolved longest ago gives way.

    If the handle names no account of the key, the grant is cached as one without a handle, which is the same. With an
    entry for each made-up handle, one key could evict all others. Instead, each such request costs a query.
    """
    with _cache_lock:
        # Assigning to an existing entry would leave it at its old place in the order.
        _cache.pop((digest, handle), None)
        if grant.principal.account_id is None:
            handle = None
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
    """Tell every process that keys or accounts of a workspace have changed. Without Redis they notice within 3 s.

    Call it after the commit: before, another process would resolve the old state and cache it under the new version.
    """
    with _cache_lock:
        for place, grant in list(_cache.items()):
            if grant.principal.workspace_id == workspace_id:
                del _cache[place]
    # The change is committed, so a failure must not look like a refusal. Every process looks again after CACHE_S.
    with suppress(redis.RedisError):
        client().incr(version_name(workspace_id))

"""API keys. The secret is shown once, when the key is issued; only its SHA-256 is stored.

Each operation knows its issuer, and refuses keys with more powers than the issuer has.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.authentication import forget_grants, hash_secret
from accounts.models import ApiKey
from accounts.rules import KEY, ROTATION
from commerce.errors import InsufficientScope, NotFound, Unauthenticated, ValidationFailed
from commerce.principal import KeyKind, covers
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock
from commerce.tokens import generate_base62
from commerce.wording import Wording

# 32 characters of base 62 are 190 random bits.
_SECRET_LENGTH = 32
# People recognise a key by its prefix: the kind and five characters, which don't help anyone to guess the rest.
_PREFIX_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Issuer:
    """Who issues, rotates or revokes: a key, limited by its own scopes and expiry, or a person.

    Like a key's, no `scopes` mean all: an owner or an operator isn't limited.
    """

    kind: KeyKind
    key_id: int | None = None
    scopes: frozenset[str] = frozenset()


OPERATOR = Issuer("workspace")
OWNER = Issuer("admin")


@dataclass(frozen=True, slots=True)
class IssuedKey:
    key: ApiKey
    secret: str


@dataclass(frozen=True, slots=True)
class _Limits:
    """What a key may do at most if this issuer issues it, and how long it may live."""

    kind: str
    scopes: frozenset[str] = frozenset()
    expires_at: datetime | None = None

    def require_powers(self, kind: str, scopes: list[str]) -> None:
        """Refuse a key that may do more than the issuer. Storefront keys never do, as they have no scopes."""
        if kind == ApiKey.Kind.WORKSPACE and self.kind != ApiKey.Kind.WORKSPACE:
            raise InsufficientScope("This needs a workspace key.")
        if kind != ApiKey.Kind.STOREFRONT and not covers(self.scopes, frozenset(scopes)):
            raise InsufficientScope("Nobody can issue or revoke a key with more powers than they have.")

    def require_end(self, expires_at: datetime | None) -> None:
        """Refuse a key that would expire later than the issuer's."""
        if self.expires_at is not None and (expires_at is None or expires_at > self.expires_at):
            raise InsufficientScope(
                Wording(
                    "The requesting key expires at %(expires_at)s; a key it issues can't expire later.",
                    expires_at=f"{self.expires_at:%Y-%m-%dT%H:%M:%SZ}",
                )
            )


def issue_key(
    *,
    issuer: Issuer,
    workspace_id: UUID,
    account_id: int | None,
    kind: str,
    name: str,
    now: datetime,
    scopes: list[str] | None = None,
    expires_at: datetime | None = None,
) -> IssuedKey:
    """Issue a workspace key (without an account), or an admin or storefront key of an account.

    Raises `ValidationFailed`, `InsufficientScope` for a key that may do more than the issuer's or expires later, and
    `Unauthenticated` if the issuer's key has ended.
    """
    key = KEY.check({"kind": kind, "name": name, "scopes": scopes, "expires_at": expires_at})
    if (account_id is None) != (kind == ApiKey.Kind.WORKSPACE):
        detail = "Admin and storefront keys need an account, workspace keys have none."
        raise ValidationFailed.of("kind", "account_mismatch", detail)
    if expires_at is not None and expires_at <= now:
        raise ValidationFailed.of("expires_at", "in_the_past", "The expiry must be in the future.")
    if kind == ApiKey.Kind.STOREFRONT and scopes:
        raise ValidationFailed.of("scopes", "not_allowed", "Storefront keys have no scopes.")
    limits = _find_limits(issuer, _lock_keys(issuer), now=now)
    # No scopes means all of them.
    limits.require_powers(kind, scopes or [])
    limits.require_end(expires_at)
    return _make_key(
        workspace_id=workspace_id,
        account_id=account_id,
        **key | {"scopes": scopes or []},
    )


def rotate_key(*, issuer: Issuer, key_id: int, grace_seconds: int) -> IssuedKey:
    """Replace a live key, which ends after the grace period at the latest.

    Raises `ValidationFailed` for a grace period that is too long, `NotFound`, also for a key that has ended, and
    `InsufficientScope` and `Unauthenticated` as `issue_key` does.
    """
    ROTATION.check({"grace_seconds": grace_seconds})
    grace = timedelta(seconds=grace_seconds)
    key = get_or_not_found(ApiKey.objects, pk=key_id)
    rows = _lock_keys(issuer, key_id)
    # The time after the lock: by the time at which the request began, a key that another rotation ended meanwhile
    # would still be live.
    now = timezone.now()
    limits, old = _find_limits(issuer, rows, now=now), rows[key_id]
    limits.require_powers(old.kind, old.scopes)
    # The expiry differs if another rotation came first: then the key has a successor already.
    if not old.is_live(now) or old.expires_at != key.expires_at:
        raise NotFound("The key is revoked or expired.")
    limits.require_end(old.expires_at)
    replacement = _make_key(
        workspace_id=old.workspace_id,
        account_id=old.account_id,
        kind=old.kind,
        name=old.name,
        scopes=old.scopes,
        expires_at=old.expires_at,
    )
    # Never later than it was, however long the grace period.
    old.expires_at = min(filter(None, [old.expires_at, now + grace]))
    old.save(update_fields=["expires_at"])
    transaction.on_commit(lambda: forget_grants(old.workspace_id))
    return replacement


def revoke_key(*, issuer: Issuer, key_id: int, now: datetime) -> ApiKey:
    """End a key at once, on every process. Repeated, nothing changes.

    Raises `NotFound`, `InsufficientScope` for a key that may do more than the issuer's, and `Unauthenticated` if the
    issuer's has ended.
    """
    rows = _lock_keys(issuer, key_id)
    limits, found = _find_limits(issuer, rows, now=now), rows.get(key_id)
    if found is None:
        raise NotFound
    limits.require_powers(found.kind, found.scopes)
    if found.revoked_at is None:
        found.revoked_at = now
        found.save(update_fields=["revoked_at"])
        transaction.on_commit(lambda: forget_grants(found.workspace_id))
    return found


def _lock_keys(issuer: Issuer, *key_ids: int) -> dict[int, ApiKey]:
    """Lock and reload the issuer's key and the given ones, in order of id.

    The issuer's key is locked too, so that a key that is being revoked can't issue a successor at the same moment.
    """
    wanted = {*key_ids} | (set() if issuer.key_id is None else {issuer.key_id})
    if not wanted:
        return {}
    rows = lock(ApiKey.objects.filter(pk__in=wanted).order_by("pk"))
    return {row.pk: row for row in rows}


def _find_limits(issuer: Issuer, rows: dict[int, ApiKey], *, now: datetime) -> _Limits:
    """Find what the issuer may do. Raises `Unauthenticated` if its key has ended since the request began."""
    if issuer.key_id is None:
        return _Limits(issuer.kind, issuer.scopes)
    own = rows.get(issuer.key_id)
    if own is None or not own.is_live(now):
        raise Unauthenticated
    return _Limits(own.kind, frozenset(own.scopes), own.expires_at)


def _make_key(*, kind: str, **fields: Any) -> IssuedKey:
    secret = ("pk_" if kind == ApiKey.Kind.STOREFRONT else "sk_") + generate_base62(_SECRET_LENGTH)
    key = ApiKey.objects.create(
        kind=kind, prefix=secret[:_PREFIX_LENGTH], secret_hash=hash_secret(secret), **fields
    )
    return IssuedKey(key=key, secret=secret)

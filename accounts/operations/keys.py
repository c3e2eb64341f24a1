"""Keys: the secret leaves once, in the answer that makes it; its SHA-256 stays."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from accounts.authentication import forget_grants, hash_secret
from accounts.models import ApiKey
from commerce.errors import NotFound
from commerce.tokens import base62

_SECRET_LENGTH = 32
_PREFIX_LENGTH = 8


@dataclass(frozen=True, slots=True)
class IssuedKey:
    key: ApiKey
    secret: str


def issue_key(
    *,
    workspace_id: UUID,
    account_id: int | None,
    kind: str,
    name: str,
    scopes: list[str] | None = None,
    expires_at: datetime | None = None,
) -> IssuedKey:
    """A new key of a workspace (no account), or an admin or storefront key of an account."""
    secret = ("pk_" if kind == ApiKey.Kind.STOREFRONT else "sk_") + base62(_SECRET_LENGTH)
    key = ApiKey.objects.create(
        workspace_id=workspace_id,
        account_id=account_id,
        kind=kind,
        name=name,
        prefix=secret[:_PREFIX_LENGTH],
        secret_hash=hash_secret(secret),
        scopes=scopes or [],
        expires_at=expires_at,
    )
    return IssuedKey(key=key, secret=secret)


def rotate_key(*, key: ApiKey, grace: timedelta, now: datetime) -> IssuedKey:
    """A new key in place of a live one, which dies after the grace period at the latest.

    Raises `NotFound` for a key that is dead already.
    """
    retires_at = now + grace
    live = Q(revoked_at__isnull=True) & (Q(expires_at__isnull=True) | Q(expires_at__gt=now))
    locked = ApiKey.objects.select_for_update().filter(live, pk=key.pk).first()
    if locked is None:
        raise NotFound("The key is revoked or expired.")
    replacement = issue_key(
        workspace_id=locked.workspace_id,
        account_id=locked.account_id,
        kind=locked.kind,
        name=locked.name,
        scopes=locked.scopes,
        expires_at=locked.expires_at,
    )
    locked.expires_at = min(filter(None, [locked.expires_at, retires_at]))
    locked.save(update_fields=["expires_at"])
    transaction.on_commit(lambda: forget_grants(locked.workspace_id))
    return replacement


def revoke_key(*, key: ApiKey, now: datetime) -> ApiKey:
    """End a key at once, on every process. Repeated, nothing changes."""
    ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=now)
    key.refresh_from_db()
    transaction.on_commit(lambda: forget_grants(key.workspace_id))
    return key

"""Creates, changes and archives accounts, in the scope of their workspace."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce

from accounts.archiving import end_business, wait_for_business
from accounts.authentication import forget_grants
from accounts.errors import VersionConflict
from accounts.models import Account
from accounts.rules import ACCOUNT, NEW_ACCOUNT
from commerce.errors import NotFound
from commerce.inventory.operations import create_location
from commerce.queries import get_or_not_found
from commerce.tenancy.scope import account_scope


def create_account(*, workspace_id: UUID, fields: Mapping[str, object]) -> Account:
    """Create a shop with its first location. Raises `ValidationFailed`, and `HandleTaken` through the unique key."""
    account = Account.objects.create(workspace_id=workspace_id, **NEW_ACCOUNT.check(fields))
    with account_scope(account.id):
        create_location(fields={"handle": "main", "name": "Main"})
    # A key that was used on this handle before is cached as one that finds no account there.
    transaction.on_commit(lambda: forget_grants(workspace_id))
    return account


def update_account(
    *, account_id: int, expected_version: int, changes: Mapping[str, object], now: datetime
) -> Account:
    """Change an account unless somebody has changed it since it was read, in one conditional UPDATE.

    Raises `ValidationFailed`, `VersionConflict`, and `NotFound`, also for an archived account.
    """
    changes = ACCOUNT.check(changes, partial=True)
    updated = Account.objects.filter(pk=account_id, version=expected_version).exclude(
        status=Account.Status.ARCHIVED
    )
    if not updated.update(version=F("version") + 1, updated_at=now, **changes):
        current = get_or_not_found(Account.objects, pk=account_id)
        if current.status == Account.Status.ARCHIVED:
            raise NotFound
        raise VersionConflict(current_version=current.version)
    return Account.objects.get(pk=account_id)


def archive_account(*, account_id: int, now: datetime) -> Account:
    """Archive a shop and end its open business. Its rows stay. Repeated, nothing changes. Raises `NotFound`."""
    # Before the status changes: business that has begun by now is ended below, and later business sees the new status.
    wait_for_business(account_id)
    Account.objects.filter(pk=account_id).exclude(status=Account.Status.ARCHIVED).update(
        status=Account.Status.ARCHIVED,
        archived_at=Coalesce(F("archived_at"), now),
        version=F("version") + 1,
        updated_at=now,
    )
    end_business(account_id, now=now)
    account = get_or_not_found(Account.objects, pk=account_id)
    transaction.on_commit(lambda: forget_grants(account.workspace_id))
    return account


def set_suspended(*, account_id: int, suspended: bool, now: datetime) -> bool:
    """Suspend a shop, or lift the suspension. Returns whether anything changed. Archived shops stay archived.

    Raises `NotFound`.
    """
    account = get_or_not_found(Account.objects, pk=account_id)
    before, after = Account.Status.ACTIVE, Account.Status.SUSPENDED
    if not suspended:
        before, after = after, before
    changed = Account.objects.filter(pk=account_id, status=before).update(
        status=after, version=F("version") + 1, updated_at=now
    )
    transaction.on_commit(lambda: forget_grants(account.workspace_id))
    return bool(changed)

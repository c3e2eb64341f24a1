"""Who is on the staff of the account in scope, and in which role. See `invitations` for how people join."""

from accounts.errors import LastOwner
from accounts.models import StaffInvitation, StaffMembership
from accounts.operations.roles import UNLIMITED, Grantor, require_power_over
from accounts.operations.sessions import end_sessions
from accounts.operations.two_factor import reset_second_step
from accounts.queries import count_shops
from accounts.roles import OWNER
from commerce.errors import InsufficientScope
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock_account
from commerce.tenancy.scope import current_account_id


def add_member(*, account_id: int, user_id: int, role: str) -> StaffMembership:
    """Add a user to the staff, for commands and operators.

    Raises `ValidationFailed` for an unknown role, and `AlreadyMember` through the unique key.
    """
    require_power_over(UNLIMITED, role)
    return StaffMembership.objects.create(account_id=account_id, user_id=user_id, role=role)


def change_role(*, grantor: Grantor, membership_id: int, role: str) -> StaffMembership:
    """Change the role, effective from the member's next request.

    Raises `ValidationFailed` for an unknown role, `InsufficientScope` if the old or the new role may do more than the
    grantor, `LastOwner`, and `NotFound`.
    """
    membership = _lock_member(membership_id)
    require_power_over(grantor, membership.role)
    require_power_over(grantor, role)
    if role != OWNER.key:
        _require_another_owner(membership)
    membership.role = role
    membership.save(update_fields=["role"])
    return membership


def remove_member(*, grantor: Grantor, membership_id: int) -> None:
    """Remove a member, effective from their next request. Their sessions end.

    Raises `InsufficientScope` if the member may do more than the grantor, `LastOwner`, and `NotFound`.
    """
    membership = _lock_member(membership_id)
    require_power_over(grantor, membership.role)
    _require_another_owner(membership)
    # With an older invitation the member could come back.
    if membership.user.email:
        StaffInvitation.objects.filter(email__iexact=membership.user.email).delete()
    membership.delete()
    end_sessions(user=membership.user)


def end_sessions_of(*, grantor: Grantor, membership_id: int) -> None:
    """End all sessions of a member.

    Raises `InsufficientScope` if the member may do more than the grantor, and `NotFound`.
    """
    membership = _lock_member(membership_id)
    require_power_over(grantor, membership.role)
    end_sessions(user=membership.user)


def reset_second_step_of(*, grantor: Grantor, membership_id: int) -> bool:
    """Remove the apps, passkeys and recovery codes of a member who has lost them. Return whether there were any.

    Their sessions end, as the lost device may be logged in. Raises `InsufficientScope` if the grantor is no owner, or
    the member may also enter other shops, is an operator or was deactivated; and `NotFound`.
    """
    membership = _lock_member(membership_id)
    if not grantor.is_owner:
        raise InsufficientScope("Only an owner may reset the second step of a member.")
    # An operator may enter every shop, even if there is only one.
    if membership.user.is_superuser or count_shops(membership.user) != 1:
        raise InsufficientScope("Only an operator may reset the second step of this member.")
    had = reset_second_step(user=membership.user)
    if had:
        end_sessions(user=membership.user)
    return had


def _lock_member(membership_id: int) -> StaffMembership:
    """Let one transaction at a time change members of this shop, and return the member with the user.

    Raises `NotFound` if the member has been removed.
    """
    # The account stands for all members. If each locked the member it changes, two owners who demote each other would
    # wait for each other.
    lock_account()
    members = StaffMembership.objects.filter(account_id=current_account_id()).select_related("user")
    return get_or_not_found(members, pk=membership_id)


def _require_another_owner(membership: StaffMembership) -> None:
    """Raise `LastOwner` if the shop has no other owner who can log in."""
    if membership.role != OWNER.key:
        return
    owners = StaffMembership.objects.filter(
        account_id=current_account_id(), role=OWNER.key, user__is_active=True
    )
    if not owners.exclude(pk=membership.pk).exists():
        raise LastOwner

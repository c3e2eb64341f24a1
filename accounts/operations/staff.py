"""The staff of an account: who may enter its back office, and in which role.

An owner invites by username without learning whether such a user exists. The user finds the invitation after logging
in, and is shown to the owner after accepting it.
"""

from accounts.errors import AlreadyMember
from accounts.models import StaffInvitation, StaffMembership, User
from accounts.rules import INVITATION, MEMBERSHIP
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock
from commerce.tenancy.scope import current_account_id


def add_member(*, account_id: int, user_id: int, role: str) -> StaffMembership:
    """Add a user to the staff. Raises `ValidationFailed`, and `AlreadyMember` through the unique key."""
    MEMBERSHIP.check({"role": role})
    return StaffMembership.objects.create(account_id=account_id, user_id=user_id, role=role)


def change_role(*, membership: StaffMembership, role: str) -> StaffMembership:
    """Change the role, effective from the member's next request. Raises `ValidationFailed`."""
    MEMBERSHIP.check({"role": role})
    membership.role = role
    membership.save(update_fields=["role"])
    return membership


def remove_member(*, membership: StaffMembership) -> None:
    """Remove a member, effective from their next request."""
    # With an older invitation the member could come back.
    StaffInvitation.objects.filter(username=membership.user.username).delete()
    StaffMembership.objects.filter(pk=membership.pk).delete()


def invite_member(*, username: str, role: str) -> StaffInvitation:
    """Invite by username. Raises `ValidationFailed`, `AlreadyMember`, and `AlreadyInvited` through the unique key."""
    username = INVITATION.check({"username": username, "role": role})["username"]
    members = StaffMembership.objects.filter(account_id=current_account_id())
    if members.filter(user__username=username).exists():
        raise AlreadyMember
    return StaffInvitation.objects.create(username=username, role=role)


def withdraw_invitation(*, invitation: StaffInvitation) -> None:
    """Withdraw an invitation. Repeated, nothing changes."""
    StaffInvitation.objects.filter(pk=invitation.pk).delete()


def accept_invitation(*, user: User) -> StaffMembership:
    """Make the user a member of the account in scope. An existing member keeps the role.

    Raises `NotFound` without an invitation.
    """
    # Locked, so that an invitation which is withdrawn at the same time makes nobody a member afterwards.
    invitation = get_or_not_found(lock(StaffInvitation.objects.all(), keys_too=True), username=user.username)
    withdraw_invitation(invitation=invitation)
    membership, _ = StaffMembership.objects.get_or_create(
        account_id=current_account_id(), user_id=user.pk, defaults={"role": invitation.role}
    )
    return membership


def decline_invitation(*, user: User) -> None:
    """Decline the invitation of the account in scope. Repeated, nothing changes."""
    StaffInvitation.objects.filter(username=user.username).delete()

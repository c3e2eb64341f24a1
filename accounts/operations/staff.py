"""The staff of an account: who may enter it in the back office, and as what.

An owner invites by username, and whether a user of that name exists is told by nothing: who has it finds the
invitation after logging in, and is shown to the owner once it is accepted.
"""

from accounts.errors import AlreadyMember
from accounts.models import StaffInvitation, StaffMembership, User
from commerce.errors import NotFound
from commerce.tenancy.scope import current_account_id


def add_member(*, account_id: int, user_id: int, role: str) -> StaffMembership:
    """A user's place in an account, held once by the unique key."""
    return StaffMembership.objects.create(account_id=account_id, user_id=user_id, role=role)


def change_role(*, membership: StaffMembership, role: str) -> StaffMembership:
    """Another role, from the member's next request on."""
    membership.role = role
    membership.save(update_fields=["role"])
    return membership


def remove_member(*, membership: StaffMembership) -> None:
    """The account is closed to the user from the next request on, and no older invitation opens it again."""
    StaffInvitation.objects.filter(username=membership.user.username).delete()
    StaffMembership.objects.filter(pk=membership.pk).delete()


def invite_member(*, username: str, role: str) -> StaffInvitation:
    """Offer a place. Raises `AlreadyMember`, and `AlreadyInvited` through the unique key."""
    username = User.normalize_username(username)
    members = StaffMembership.objects.filter(account_id=current_account_id())
    if members.filter(user__username=username).exists():
        raise AlreadyMember
    return StaffInvitation.objects.create(username=username, role=role)


def withdraw_invitation(*, invitation: StaffInvitation) -> None:
    """Take the offer back. Repeated, nothing changes."""
    StaffInvitation.objects.filter(pk=invitation.pk).delete()


def accept_invitation(*, user: User) -> StaffMembership:
    """The user's place in the account in scope; of a member already, the role stays as it is.

    Raises `NotFound` where there is no invitation, or none any more.
    """
    invitation = StaffInvitation.objects.select_for_update().filter(username=user.username).first()
    if invitation is None:
        raise NotFound
    withdraw_invitation(invitation=invitation)
    membership, _ = StaffMembership.objects.get_or_create(
        account_id=current_account_id(), user_id=user.pk, defaults={"role": invitation.role}
    )
    return membership


def decline_invitation(*, user: User) -> None:
    """Refuse the place that the account in scope offers. Repeated, nothing changes."""
    StaffInvitation.objects.filter(username=user.username).delete()

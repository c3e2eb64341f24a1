"""The staff of an account: who may enter it in the back office, and as what."""

from accounts.models import StaffMembership


def add_member(*, account_id: int, user_id: int, role: str) -> StaffMembership:
    """A user's place in an account, held once by the unique key."""
    return StaffMembership.objects.create(account_id=account_id, user_id=user_id, role=role)


def change_role(*, membership: StaffMembership, role: str) -> StaffMembership:
    """Another role, from the member's next request on."""
    membership.role = role
    membership.save(update_fields=["role"])
    return membership


def remove_member(*, membership: StaffMembership) -> None:
    """The account is closed to the user from the next request on."""
    StaffMembership.objects.filter(pk=membership.pk).delete()

"""A shop's own roles, and the limit on giving rights: nobody gives more than they have."""

from collections.abc import Mapping
from dataclasses import dataclass

from accounts.models import StaffRole
from accounts.roles import BUILT_IN_ROLES, OWNER, holds_all
from accounts.rules import ROLE
from commerce.errors import InsufficientScope, ValidationFailed
from commerce.formats import parse_id
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock


@dataclass(frozen=True, slots=True)
class Grantor:
    """Who gives or takes rights. Only owners and operators make others owners, who also get what later releases add."""

    scopes: frozenset[str]
    is_owner: bool = False
    name: str = ""


# For commands and operators.
UNLIMITED = Grantor(OWNER.scopes, is_owner=True)


def require_power_over(grantor: Grantor, role: str) -> None:
    """Raise `InsufficientScope` if the role may do more than the grantor.

    Raises `ValidationFailed` for a role that the shop doesn't have.
    """
    if grantor.is_owner and role == OWNER.key:
        return
    if role == OWNER.key or not holds_all(grantor.scopes, _read_scopes(role)):
        raise InsufficientScope("You can't give or take a role that may do more than yours.")


def _read_scopes(role: str) -> frozenset[str]:
    if role in BUILT_IN_ROLES:
        return BUILT_IN_ROLES[role].scopes
    # Locked, so that the role gets no further scopes until it is given.
    own_roles = lock(StaffRole.objects.filter(pk=parse_id(role) or 0))
    own = own_roles.first()
    if own is None:
        raise ValidationFailed.of("role", "unknown_role", "The shop has no such role.")
    return frozenset(own.scopes)


def create_role(*, grantor: Grantor, fields: Mapping[str, object]) -> StaffRole:
    """Create a role of the shop's own.

    Raises `ValidationFailed`, `InsufficientScope` for scopes that the grantor lacks, and `RoleExists` through the unique
    key.
    """
    checked = ROLE.check(fields)
    _require_scopes(grantor, checked["scopes"])
    return StaffRole.objects.create(**checked)


def update_role(*, grantor: Grantor, role_id: int, changes: Mapping[str, object]) -> StaffRole:
    """Change a role, effective from the next request of whoever has it.

    Raises as `create_role` does, and `NotFound`.
    """
    checked = ROLE.check(changes, partial=True)
    role = _lock_role(role_id)
    _require_scopes(grantor, role.scopes)
    _require_scopes(grantor, checked.get("scopes", ()))
    role.save_changes(checked)
    return role


def delete_role(*, grantor: Grantor, role_id: int) -> None:
    """Delete a role. Raises `NotFound`, `InsufficientScope`, and `RoleInUse` through the references to it."""
    role = _lock_role(role_id)
    _require_scopes(grantor, role.scopes)
    role.delete()


def _lock_role(role_id: int) -> StaffRole:
    return get_or_not_found(lock(StaffRole.objects.all(), keys_too=True), pk=role_id)


def _require_scopes(grantor: Grantor, scopes: object) -> None:
    if not holds_all(grantor.scopes, scopes):  # type: ignore[arg-type]
        raise InsufficientScope("You can't give or take scopes that you don't have.")

"""What the member behind a request may give to others, and the choices of roles."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from django.http import HttpRequest

from accounts.models import StaffRole
from accounts.operations import UNLIMITED, Grantor
from accounts.roles import BUILT_IN_ROLES, OWNER, holds_all
from commerce.backoffice.membership import OPERATOR_NAME, get_membership


def get_grantor(request: HttpRequest) -> Grantor:
    """Return what the request's member may give; nothing on pages without an account."""
    member = get_membership(request)
    if member is None:
        return Grantor(frozenset())
    if member.is_operator:
        return replace(UNLIMITED, name=OPERATOR_NAME)
    return Grantor(member.scopes, is_owner=member.role == OWNER.key, name=request.user.get_username())


def list_roles() -> list[tuple[str, str]]:
    """Return the roles of the shop in scope, with their titles."""
    return [(key, title) for key, title, scopes in _iterate_roles()]


def list_grantable_roles(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the roles that the member may give, with their titles."""
    grantor = get_grantor(request)
    return [
        (key, title)
        for key, title, scopes in _iterate_roles()
        if holds_all(grantor.scopes, scopes) and (key != OWNER.key or grantor.is_owner)
    ]


def _iterate_roles() -> Iterator[tuple[str, str, Collection[str]]]:
    for role in BUILT_IN_ROLES.values():
        yield role.key, str(role.title), role.scopes
    for own in StaffRole.objects.order_by("name", "pk"):
        yield f"{own.pk}", own.name, own.scopes

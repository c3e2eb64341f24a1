"""The staff member's role in the chosen account, and what it allows."""

from dataclasses import dataclass

from django.http import HttpRequest

from commerce.errors import InsufficientScope
from commerce.principal import includes
from commerce.wording import Wording

from .wordings import translate

# The name under which a shop's staff sees operators. Their own names stay private. The space makes it a name that no
# member can choose.
OPERATOR_NAME = "An operator"


@dataclass(frozen=True, slots=True)
class Membership:
    """A staff user's role in one account, loaded on every request. Operators may enter any account, and do anything.

    `scopes` has the names that API keys use. `role` is the key of a built-in role, or the id of one of the shop's own.
    """

    account_id: int
    handle: str
    name: str
    status: str
    role: str
    title: str
    scopes: frozenset[str]
    is_operator: bool = False

    @property
    def status_title(self) -> str:
        return translate(self.status.capitalize())

    def may(self, scope: str) -> bool:
        """Whether the member holds a scope. Unlike for a key, no scopes allow nothing."""
        return self.is_operator or includes(self.scopes, scope)

    def may_view(self, area: str) -> bool:
        """Whether the member may look at an area of scopes. What belongs to none is for operators alone."""
        return self.may(f"read_{area}")

    def may_change(self, area: str) -> bool:
        """Whether the member may make changes in an area: in a suspended account only operators may."""
        return self.is_operator or (self.status == "active" and self.may(f"write_{area}"))


def get_membership(request: HttpRequest) -> Membership | None:
    """Return the membership of the request's account; None on pages without an account, such as log-in."""
    return getattr(request, "membership", None)


def name_person(request: HttpRequest) -> str:
    """Return the name under which the shop's staff sees whoever sent the request."""
    membership = get_membership(request)
    is_operator = membership is not None and membership.is_operator
    return OPERATOR_NAME if is_operator else request.user.get_username()


def may(request: HttpRequest, scope: str) -> bool:
    """Whether the request's member holds a scope; nobody does on pages without an account."""
    membership = get_membership(request)
    return membership is not None and membership.may(scope)


def require(request: HttpRequest, scope: str) -> None:
    """Raise `InsufficientScope` unless the request's member holds a scope. For rows that need more than their page."""
    if not may(request, scope):
        raise InsufficientScope(
            Wording("Your role in this shop lacks the scope %(scope)s.", scope=scope), required_scope=scope
        )

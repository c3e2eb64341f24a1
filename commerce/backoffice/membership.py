"""The staff member's role in the chosen account, and what it allows."""

from dataclasses import dataclass

from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class Membership:
    """A staff user's role in one account, loaded on every request. Operators may enter any account."""

    account_id: int
    handle: str
    name: str
    status: str
    role: str
    is_operator: bool

    @property
    def title(self) -> str:
        return "Operator" if self.is_operator else self.role.capitalize()

    def may_view(self, *, owners_only: bool) -> bool:
        return self.is_operator or not owners_only or self.role == "owner"

    def may_change(self, *, owners_only: bool) -> bool:
        """Whether the member may make changes: support staff may not, and in a suspended account only operators may."""
        if self.is_operator:
            return True
        return self.status == "active" and self.role in ({"owner"} if owners_only else {"owner", "staff"})


def get_membership(request: HttpRequest) -> Membership | None:
    """Return the membership of the request's account; None on pages without an account, such as log-in."""
    return getattr(request, "membership", None)

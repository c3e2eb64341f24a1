"""Who works in the back office, and what the role in the chosen account allows."""

from dataclasses import dataclass

from django.http import HttpRequest

_WRITING_ROLES = frozenset({"owner", "staff"})


@dataclass(frozen=True, slots=True)
class Membership:
    """A staff user's place in one account, read anew for every request; operators may enter any account."""

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
        """Support only reads, and a suspended account is changed by operators alone."""
        if self.is_operator:
            return True
        return self.status == "active" and self.role in ({"owner"} if owners_only else _WRITING_ROLES)


def membership_of(request: HttpRequest) -> Membership | None:
    """The membership in whose account the request runs; None on pages without an account, such as log-in."""
    return getattr(request, "membership", None)

"""Who asks: the key behind a request, and what it may do."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

KeyKind = Literal["workspace", "admin", "storefront"]

AREAS = (
    "accounts",
    "markets",
    "products",
    "inventory",
    "customers",
    "orders",
    "shipping",
    "discounts",
    "vouchers",
    "emails",
    "settings",
    "api_keys",
    "events",
)
SCOPES = tuple(f"{access}_{area}" for area in AREAS for access in ("read", "write"))


@dataclass(frozen=True, slots=True)
class Principal:
    """A resolved key. `account_id` is None for a workspace key until a handle names an account."""

    key_id: int
    kind: KeyKind
    workspace_id: UUID
    account_id: int | None
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """Whether the key holds a scope. None given means all; writing implies reading."""
        return not self.scopes or scope in self.scopes or scope.replace("read_", "write_", 1) in self.scopes

    def may_grant(self, scopes: frozenset[str]) -> bool:
        """Whether the key may issue another one with these scopes (none means all)."""
        if not self.scopes:
            return True
        return bool(scopes) and all(self.may(scope) for scope in scopes)

"""The key behind a request, and what it may do."""

from dataclasses import dataclass
from typing import Literal, Protocol
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


class Holder(Protocol):
    """Whoever holds scopes: a key, or a member of the staff."""

    def may(self, scope: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Principal:
    """A resolved key. `account_id` is None for a workspace key until a handle names an account."""

    key_id: int
    kind: KeyKind
    workspace_id: UUID
    account_id: int | None
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """Whether the key holds a scope."""
        return covers(self.scopes, frozenset({scope}))


def includes(held: frozenset[str], scope: str) -> bool:
    """Whether scopes include one: `write_x` includes `read_x`."""
    return scope in held or scope.replace("read_", "write_", 1) in held


def covers(held: frozenset[str], wanted: frozenset[str]) -> bool:
    """Whether a key's scopes include others. A key without scopes holds all of them."""
    if not held:
        return True
    # Likewise, wanting none means wanting all, which only a key without scopes covers.
    return bool(wanted) and all(includes(held, scope) for scope in wanted)

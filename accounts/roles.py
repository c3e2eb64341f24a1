"""What the members of a shop's staff may do: a role is a set of scopes, with the names that API keys use."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from commerce.principal import AREAS, SCOPES, includes

# Members, roles, invitations and the log of what staff did. No key manages these.
STAFF_AREA = "staff"
STAFF_SCOPES = (*SCOPES, f"read_{STAFF_AREA}", f"write_{STAFF_AREA}")

# What a day's work needs. The rest decides about the shop itself.
_DAILY_AREAS = frozenset(AREAS) - {"accounts", "settings", "api_keys", "events"}
_READING = frozenset(f"read_{area}" for area in _DAILY_AREAS | {"accounts", "events"})


@dataclass(frozen=True, slots=True)
class BuiltInRole:
    """A role that every shop has."""

    key: str
    title: str | Promise
    scopes: frozenset[str]


OWNER = BuiltInRole("owner", _("Owner"), frozenset(STAFF_SCOPES))
MANAGER = BuiltInRole("manager", _("Manager"), _READING | {f"write_{area}" for area in _DAILY_AREAS})
SUPPORT = BuiltInRole("support", _("Support"), _READING | {"write_customers", "write_orders"})
READ_ONLY = BuiltInRole("read_only", _("Read-only"), _READING)
BUILT_IN_ROLES = {role.key: role for role in (OWNER, MANAGER, SUPPORT, READ_ONLY)}


def holds_all(held: frozenset[str], wanted: Iterable[str]) -> bool:
    """Whether scopes include others. Unlike for a key, an empty set allows nothing."""
    return all(includes(held, scope) for scope in wanted)


def scopes_of(role: str, *, own_scopes: Iterable[str] | None) -> frozenset[str]:
    """Return the scopes of a role by its key, or those of one of the shop's own.

    A role that this release doesn't know has none, as may happen during a deployment.
    """
    built_in = BUILT_IN_ROLES.get(role)
    return built_in.scopes if built_in else frozenset(own_scopes or ())


def title_of(role: str, *, own_name: str | None) -> str:
    built_in = BUILT_IN_ROLES.get(role)
    return str(built_in.title) if built_in else own_name or role

"""Checks whether a domain belongs to another account. Apps above accounts know who has verified a domain."""

from collections.abc import Callable

from accounts.errors import DomainTaken

OwnerCheck = Callable[[str], bool]

_owner_checks: list[OwnerCheck] = []


def register_owner_check(check: OwnerCheck) -> OwnerCheck:
    """Register a check that tells whether an account other than the one in scope has verified a domain."""
    _owner_checks.append(check)
    return check


def require_free_domain(domain: str | None) -> None:
    """Raises `DomainTaken`. Domains that nobody has verified are free: any number of accounts may name them."""
    if domain is not None and any(check(domain) for check in _owner_checks):
        raise DomainTaken

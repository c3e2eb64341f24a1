"""Pages that call another service: they open their own transactions before and after the call."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.http import HttpRequest

from commerce.tenancy.scope import ScopeOpener

from .requests import StaffRequest

F = TypeVar("F", bound=Callable[..., Any])


def opens_own_scopes(view: F) -> F:
    """Mark a page to run outside any scope. It must load what its template shows before rendering."""
    view.opens_own_scopes = True  # type: ignore[attr-defined]
    return view


def get_scope_opener(request: HttpRequest) -> ScopeOpener:
    """Return a function that opens a transaction in the member's account, for pages marked `opens_own_scopes`."""
    return cast("StaffRequest", request).open_scope

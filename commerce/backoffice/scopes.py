"""Pages that call another service: they open their own transactions before and after the call."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

from django.http import HttpRequest

from .requests import StaffRequest

F = TypeVar("F", bound=Callable[..., Any])
Scope = Callable[[], AbstractContextManager[None]]


def opens_own_scopes(view: F) -> F:
    """Mark a page to run outside any scope. It must load what its template shows before rendering."""
    view.opens_own_scopes = True  # type: ignore[attr-defined]
    return view


def get_scope_opener(request: HttpRequest) -> Scope:
    """Return a function that opens a transaction in the member's account, for pages marked `opens_own_scopes`."""
    return cast("StaffRequest", request).open_scope

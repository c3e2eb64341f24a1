"""Pages that call another service open their transactions themselves, before and after the call."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from django.http import HttpRequest

F = TypeVar("F", bound=Callable[..., Any])
Scope = Callable[[], AbstractContextManager[None]]


def opens_own_scopes(view: F) -> F:
    """Marks a page that is run outside of any scope; what its template shows has been read before."""
    view.opens_own_scopes = True  # type: ignore[attr-defined]
    return view


def scope_of(request: HttpRequest) -> Scope:
    """Opens a transaction in the account that the member works in; for pages that open their own."""
    return request.open_scope  # type: ignore[attr-defined]

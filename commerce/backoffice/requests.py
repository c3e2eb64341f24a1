from collections.abc import Callable
from contextlib import AbstractContextManager

from django.http import HttpRequest

from .membership import Membership


class StaffRequest(HttpRequest):
    """Names what the back office adds to a request within an account, for type checking only."""

    membership: Membership
    # Opens a transaction in the member's account.
    open_scope: Callable[[], AbstractContextManager[None]]

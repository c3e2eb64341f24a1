from django.http import HttpRequest

from commerce.tenancy.scope import ScopeOpener

from .membership import Membership


class StaffRequest(HttpRequest):
    """Names what the back office adds to a request within an account, for type checking only."""

    membership: Membership
    # Opens a transaction in the member's account.
    open_scope: ScopeOpener

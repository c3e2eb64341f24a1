"""The account that a session works in. Every request checks in the database that the user may still enter it."""

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.http import HttpRequest
from django.middleware.csrf import rotate_token

from accounts.models import User
from commerce.backoffice.membership import Membership

_SESSION_KEY = "account_id"

_MEMBERSHIPS = """
    SELECT account_id, handle, name, status, role, %(is_operator)s::boolean
      FROM staff_accounts(%(user_id)s::bigint)
     WHERE status <> 'archived'
       AND (%(account_id)s::bigint IS NULL OR account_id = %(account_id)s::bigint)
       AND (name ILIKE %(pattern)s::text OR handle ILIKE %(pattern)s::text)
     ORDER BY name, account_id LIMIT %(limit)s::int
"""


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation to a shop's staff."""

    account_id: int
    handle: str
    name: str
    role: str


def find_invitations(user: User | AnonymousUser) -> list[Invitation]:
    """Return a user's latest invitations, found by username."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT account_id, handle, name, role FROM invitations_of(%s)", [user.pk])
        return [Invitation(*row) for row in cursor.fetchall()]


def find_memberships(
    user: User | AnonymousUser, *, account_id: int | None = None, search: str = "", limit: int = 50
) -> list[Membership]:
    """Return the accounts that a user may enter, sorted by name: all for operators, otherwise the user's own."""
    # The wildcards of LIKE are ordinary characters in a search.
    escaped = search.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    parameters = {
        "user_id": user.pk,
        "is_operator": user.is_superuser,
        "account_id": account_id,
        "pattern": f"%{escaped}%",
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MEMBERSHIPS, parameters)
        return [Membership(*row) for row in cursor.fetchall()]


def load_chosen_membership(request: HttpRequest) -> Membership | None:
    """Return the membership that the session has chosen; a user's only account is chosen automatically.

    An invalid choice is never replaced silently, because the submitted page was meant for the account chosen before.
    """
    chosen_id = request.session.get(_SESSION_KEY)
    if chosen_id is not None:
        return next(iter(find_memberships(request.user, account_id=chosen_id)), None)
    # A POST without a choice comes from a page whose session has ended, so nobody knows which account it was meant for.
    if request.method != "GET":
        return None
    # Two are enough to see that it isn't the only one.
    only = find_memberships(request.user, limit=2)
    if len(only) != 1:
        return None
    request.session[_SESSION_KEY] = only[0].account_id
    return only[0]


def switch_account(request: HttpRequest, account_id: int) -> Membership | None:
    """Switch the session to an account. Return None, without any change, if the user may not enter it."""
    membership = next(iter(find_memberships(request.user, account_id=account_id)), None)
    if membership is not None:
        request.session[_SESSION_KEY] = membership.account_id
        # Invalidates forms that other tabs still show for the previous account.
        rotate_token(request)
    return membership

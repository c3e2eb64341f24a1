"""The account that a session works in. Every request checks in the database that the user may still enter it."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.http import HttpRequest
from django.middleware.csrf import rotate_token
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.roles import scopes_of, title_of
from commerce.backoffice.membership import Membership

_SESSION_KEY = "account_id"

_MEMBERSHIPS = """
    SELECT account_id, handle, name, status, role, own_role_name, own_scopes
      FROM shops_of(%(user_id)s::bigint)
     WHERE status <> 'archived'
       AND (%(account_id)s::bigint IS NULL OR account_id = %(account_id)s::bigint)
       AND (name ILIKE %(pattern)s::text OR handle ILIKE %(pattern)s::text)
     ORDER BY name, account_id LIMIT %(limit)s::int
"""


def find_memberships(
    user: User | AnonymousUser, *, account_id: int | None = None, search: str = "", limit: int = 50
) -> list[Membership]:
    """Return the accounts that a user may enter, sorted by name: all for operators, otherwise the user's own."""
    # The wildcards of LIKE are ordinary characters in a search.
    escaped = search.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    parameters = {
        "user_id": user.pk,
        "account_id": account_id,
        "pattern": f"%{escaped}%",
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MEMBERSHIPS, parameters)
        return [_make_membership(user, row) for row in cursor.fetchall()]


def _make_membership(user: User | AnonymousUser, row: tuple[Any, ...]) -> Membership:
    account_id, handle, name, status, role, own_role_name, own_scopes = row
    return Membership(
        account_id=account_id,
        handle=handle,
        name=name,
        status=status,
        role=role,
        title=str(_("Operator")) if user.is_superuser else title_of(role, own_name=own_role_name),
        scopes=scopes_of(role, own_scopes=own_scopes),
        is_operator=user.is_superuser,
    )


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

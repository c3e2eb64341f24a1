"""Keeps a verified sender domain from becoming another account's market domain."""

from django.db import connection

from accounts.domains import register_owner_check

from .operations import read_domain


@register_owner_check
def is_verified_by_another(domain: str) -> bool:
    """Whether another account has verified a domain, and the one in scope hasn't."""
    # Row-level security hides other accounts' rows, so a function of another role looks for them.
    with connection.cursor() as cursor:
        cursor.execute("SELECT is_anothers_domain(%s)", [read_domain(domain)])
        return cursor.fetchone()[0]

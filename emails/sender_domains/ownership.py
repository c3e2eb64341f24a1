"""Keeps a verified sender domain from becoming another account's market domain."""

from django.db import connection

from accounts.domains import register_owner_check

from .operations import domain_of


@register_owner_check
def is_anothers(domain: str) -> bool:
    """Whether another account has verified a domain, and the one in scope hasn't."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT is_anothers_domain(%s)", [domain_of(domain)])
        return cursor.fetchone()[0]

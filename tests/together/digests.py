"""A digest of all rows of a shop, to find out whether anything has changed."""

from functools import cache

from django.apps import apps
from django.db import connection

from commerce.tenancy.models import AccountOwned
from tests.shops import Shop


def digest_of_rows(shop: Shop) -> str:
    with shop.scope(), connection.cursor() as cursor:
        cursor.execute(_statement(), {"account": shop.id})
        return str(cursor.fetchone()[0])


@cache
def _statement() -> str:
    tables = sorted(model._meta.db_table for model in apps.get_models() if issubclass(model, AccountOwned))
    parts = " UNION ALL ".join(
        f"SELECT sum(hashtextextended('{table}' || t::text, 0)::numeric) AS digest"
        f" FROM {table} t WHERE t.account_id = %(account)s"
        for table in tables
    )
    return f"SELECT sum(digest) FROM ({parts}) digests"

"""Many rows at once, so that PostgreSQL's plans are those of a large shop. Only for tests whose rows are committed."""

import os

import psycopg
from django.db import connection
from django.db.models import Model


def copy(row: Model, times: int, **columns: str) -> None:
    """Copy a row, with an SQL expression of the copy's number `i` for each of the columns that must differ."""
    names = [field.column for field in row._meta.concrete_fields if not field.generated]
    table = row._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(names)}) "
            f"SELECT {', '.join(columns.get(name, f't.{name}') for name in names)} "
            f"FROM {table} t, generate_series(1, {times}) i WHERE t.id = {row.pk}"
        )


def analyze(*tables: str) -> None:
    """Take the statistics that autovacuum would take."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute(f"ANALYZE {', '.join(tables)}".encode())

"""Poisoned rows: the database refuses every change of them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

_POISON = """
    CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'poisoned row'; END $$;
    GRANT EXECUTE ON FUNCTION {name}() TO PUBLIC;
    CREATE TRIGGER {name} BEFORE {events} ON {table} FOR EACH ROW
    WHEN (OLD.{key} IN ({ids}) AND ({when})) EXECUTE FUNCTION {name}();
"""


@contextmanager
def poisoned(table: str, *ids: object, key: str = "id", when: str | None = None) -> Iterator[None]:
    """Poison rows that meet `when`, a condition on the new row. Only for transactional tests: it alters the table."""
    name = sql.Identifier(f"poison_{table}")
    poison = sql.SQL(_POISON).format(
        name=name,
        key=sql.Identifier(key),
        table=sql.Identifier(table),
        ids=sql.SQL(", ").join(map(sql.Literal, ids)),
        events=sql.SQL("UPDATE OR DELETE" if when is None else "UPDATE"),
        when=sql.SQL(when or "true"),
    )
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute(poison)
        try:
            yield
        finally:
            owner.execute(sql.SQL("DROP FUNCTION {} CASCADE").format(name))

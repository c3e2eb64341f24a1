"""Plans of frequent statements are made once for all accounts, so they mustn't rest on the rows of one of them.

They also have to find rows by more than the account, however few rows the average shop has: with a few in each table,
reading all of them can look cheaper than finding each by its id. A shop with a million would wait for that.

PostgreSQL estimates how many rows a table's policy lets through by the setting at the time of planning. Where the policy
is all that limits a table to the account, the plan for a small account may read all rows of the next one. So it may where
an id is compared with a coalesce(): that isn't leakproof, so on a table with a policy it is checked row by row.
"""

import os
import re
import sys

import psycopg
import pytest
from django.db import connection

from commerce.tenancy.statements import Prepared
from config import urls  # noqa: F401  imports the modules of all requests

# Tables that are read whole: a shop has few rows in them. Of discounts, only those in force, and of holds, those of
# payments that are under way.
READ_WHOLE = {
    "account_settings", "discount_holds", "discounts", "locations", "markets", "shipping_methods", "shipping_rates",
    "shipping_zones",
}  # fmt: skip
_STATISTICS = """
    SELECT pg_restore_attribute_stats(
               'schemaname', 'public', 'relname', %s::text, 'attname', %s::text, 'inherited', false,
               'null_frac', %s::real, 'n_distinct', %s::real)
"""
_UNCOUNTED = """
    SELECT pg_restore_relation_stats(
               'schemaname', 'public', 'relname', %s::text, 'relpages', 0, 'reltuples', (-1)::real)
"""
_COLUMNS = """
    SELECT c.relname, array_agg(a.attname::text)
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
     GROUP BY c.relname
    HAVING 'account_id' = ANY(array_agg(a.attname))
"""

PACKAGES = {"accounts", "carts", "checkouts", "commerce", "discounts", "emails", "shipping"}
POLICY = "current_setting('commerce.account_id'"


def list_statements():
    """The statements that the product's modules hold, also in tuples and in objects of their own."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] in PACKAGES]
    held = [value for module in modules for value in vars(module).values()]
    held += [part for value in held for part in list_parts(value)]
    found = {value.sql.decode() for value in held if isinstance(value, Prepared)}
    return sorted(sql for sql in found if re.match(r"[\s(]*(SELECT|WITH|INSERT|UPDATE|DELETE)\b", sql))


def list_parts(value):
    if isinstance(value, tuple):
        return list(value)
    is_own = type(value).__module__.partition(".")[0] in PACKAGES
    return list(vars(value).values()) if is_own and hasattr(value, "__dict__") else []


def find_conditions(sql):
    """The scans of tables in the plan for any account whose conditions have the policy's setting, or compare so."""
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (GENERIC_PLAN, COSTS OFF) " + sql.replace("%", "%%"))
        lines = [line for (line,) in cursor.fetchall()]
    node = ""
    for line in lines:
        if "->" in line or not line.startswith(" "):
            node = line
        # Accounts are found by their ids; their policy is another one.
        elif "One-Time Filter" in line or not re.search(r" on (?!accounts\b)", node):
            continue
        elif POLICY in line or re.search(r"\bid = COALESCE\(", line):
            yield f"{node.strip()}: {line.strip()}"


def test_every_table_of_a_prepared_statement_is_limited_by_a_parameter(shop):
    statements = list_statements()
    assert len(statements) > 50, len(statements)
    with shop.scope():
        exposed = {sql: found for sql in statements if (found := [*find_conditions(sql)])}
    assert exposed == {}


@pytest.mark.parametrize("rows", [10, 60])
def test_a_plan_for_small_shops_does_not_read_all_rows_of_a_large_one(shop, rows):
    # PostgreSQL expects 300 rows in a table that it hasn't counted.
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as owner:
        if owner.info.server_version < 180000:
            pytest.skip("PostgreSQL 18 has the functions that set statistics")
        for table, columns in owner.execute(_COLUMNS).fetchall():
            owner.execute(_UNCOUNTED, [table])
            # Of each column, the share of NULL, and of values that differ.
            shares = {"id": (0, -1), "token": (0, -1), "archived_at": (1, 0), "account_id": (0, -1 / rows)}
            for column in columns:
                if found := shares.get(column) or (column.endswith("_id") and (0, -0.5)):
                    owner.execute(_STATISTICS, [table, column, *found])
        found = {sql: reads for sql in list_statements() if (reads := [*find_whole_reads(owner, sql)])}
        owner.rollback()
    assert found == {}


def find_whole_reads(owner, sql):
    """The scans that read all rows of the account from a table that may be large."""
    # The owner may not call the claim of the outbox, whose plans are made inside of it.
    if "claim_outbox_turns" in sql:
        return
    node = ""
    for (line,) in owner.execute("EXPLAIN (GENERIC_PLAN, COSTS OFF) " + sql.replace("%", "%%")).fetchall():
        if "->" in line or not line.startswith(" "):
            node = line
        table = re.search(r" on (\w+)", node)
        is_whole = "Seq Scan" in line or re.search(
            r"Index Cond: \(\(?(\w+\.)?account_id = [^()]*\)\)?$", line
        )
        if is_whole and table and not any(name in table[1] for name in READ_WHOLE):
            yield f"{node.strip()}: {line.strip()}"

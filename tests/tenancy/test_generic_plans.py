"""Plans of frequent statements are made once for all accounts, so they mustn't rest on the rows of one of them.

PostgreSQL estimates how many rows a table's policy lets through by the setting at the time of planning. Where the policy
is all that limits a table to the account, the plan for a small account may read all rows of the next one. So it may where
an id is compared with a coalesce(): that isn't leakproof, so on a table with a policy it is checked row by row.
"""

import re
import sys

from django.db import connection

from commerce.tenancy.statements import Prepared
from config import urls  # noqa: F401  imports the modules of all requests

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

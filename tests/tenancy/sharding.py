"""Rules that keep a statement on one shard once `account_id` is the distribution column.

Every account-owned table that a statement reads or changes is compared on `account_id`, rows are inserted
with it, and it never stands in a SET list. The test run holds every statement of the product to them.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType

from tests.rows import account_owned_models
from tests.tenancy.frames import is_sent_by_a_test

# Names as quoted by Django or written in raw SQL, with the following alias.
_TABLE = re.compile(
    r"\b(?P<verb>FROM|JOIN|UPDATE|INTO)\s+(?:ONLY\s+)?\"?(?P<table>[a-z_]+)\"?"
    r"(?:\s+(?:AS\s+)?\"?(?P<alias>(?!(?:WHERE|SET|ON|INNER|LEFT|JOIN|CROSS|ORDER|GROUP|LIMIT|FOR|VALUES|UNION|USING|"
    r"RETURNING|HAVING|OFFSET|NATURAL|DEFAULT|SELECT)\b)[A-Za-z_]\w*)\"?)?",
)
_SET_LIST = re.compile(r"\bSET\b(?P<list>.*?)(?:\bWHERE\b|\bFROM\b|\bRETURNING\b|$)", re.DOTALL)


def check(sql: str, frame: FrameType) -> tuple[str, ...]:
    """Name what in a statement of the product would reach beyond one shard."""
    found = problems(sql)
    return () if found and is_sent_by_a_test(frame) else found


@lru_cache(maxsize=20_000)
def problems(sql: str) -> tuple[str, ...]:
    """List what in a statement would reach beyond a shard."""
    return tuple(_problems(sql))


def _problems(sql: str) -> Iterator[str]:
    owned = {model._meta.db_table for model in account_owned_models()}
    for match in _TABLE.finditer(sql):
        table = match["table"]
        if table not in owned:
            continue
        if match["verb"] == "INTO":
            if "account_id" not in sql[match.end() :].partition(")")[0]:
                yield f"inserts into {table} without account_id"
        elif not _is_compared(sql, match["alias"] or table):
            yield f"reads {table} without comparing account_id"
    if owned & set(re.findall(r"\w+", sql)):
        yield from _set_list_problems(sql)


def _is_compared(sql: str, name: str) -> bool:
    column = rf"(?:\"?\b{name}\"?\.|(?<![.\w\"]))\"?account_id\"?"
    compared = rf"{column}\s*(?:=|IN\b)|=\s*\(?{column}|USING\s*\([^)]*\baccount_id"
    return bool(re.search(compared, sql))


def _set_list_problems(sql: str) -> Iterator[str]:
    for match in _SET_LIST.finditer(sql):
        if re.search(r"\"?\baccount_id\"?\s*=", match["list"]):
            yield "sets account_id"

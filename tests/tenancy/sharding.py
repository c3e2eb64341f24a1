"""Rules that keep a statement on one shard once `account_id` is the distribution column.

Every account-owned table that a statement reads or changes is compared on `account_id`, rows are inserted
with it, and it never stands in a SET list. The test run holds every statement of the product to them.
"""

import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings

from tests.rows import account_owned_models

# Names as quoted by Django or written in raw SQL, with the following alias.
_TABLE = re.compile(
    r"\b(?P<verb>FROM|JOIN|UPDATE|INTO)\s+(?:ONLY\s+)?\"?(?P<table>[a-z_]+)\"?"
    r"(?:\s+(?:AS\s+)?\"?(?P<alias>(?!(?:WHERE|SET|ON|INNER|LEFT|JOIN|CROSS|ORDER|GROUP|LIMIT|FOR|VALUES|UNION|USING|"
    r"RETURNING|HAVING|OFFSET|NATURAL|DEFAULT|SELECT)\b)[A-Za-z_]\w*)\"?)?",
)
_SET_LIST = re.compile(r"\bSET\b(?P<list>.*?)(?:\bWHERE\b|\bFROM\b|\bRETURNING\b|$)", re.DOTALL)


TESTS = Path(__file__).parent.parent


class Watch:
    """Collects violations by the product's statements on every connection where it is installed."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def install(self, connection: Any, **kwargs: Any) -> None:
        if self not in connection.execute_wrappers:
            connection.execute_wrappers.append(self)

    def __call__(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
        found = problems(sql) if isinstance(sql, str) else ()
        if found and not _is_of_a_test(sys._getframe()):
            self.found += [f"{problem}: {sql}" for problem in found]
        return execute(sql, params, many, context)


def _is_of_a_test(frame: FrameType | None) -> bool:
    """Whether the innermost frame of the project is a test's: tests may send any SQL."""
    while frame:
        path = Path(frame.f_code.co_filename)
        is_own = path.is_relative_to(settings.BASE_DIR) and ".venv" not in path.parts
        if is_own and path != Path(__file__):
            return path.is_relative_to(TESTS)
        frame = frame.f_back
    return False


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

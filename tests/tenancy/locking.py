"""Locks are announced, so that their order is checked; the test run checks this of every statement of the product."""

import re
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType

from commerce.tenancy.locks import held_locks
from tests.tenancy.frames import is_sent_by_a_test

_LOCK = re.compile(r"\bFOR\s+(?:UPDATE|NO\s+KEY\s+UPDATE|SHARE)\b(?:\s+OF\s+(?P<of>[\w\"., ]+))?")
_TABLE = re.compile(
    r"\b(?:FROM|JOIN)\s+\"?(?P<table>[a-z_]+)\"?(?:\s+(?:AS\s+)?\"?(?P<alias>[A-Za-z]\w*)\"?)?"
)

# Tables that are locked without being in the order, and why.
EXCEPTIONS = {
    "mail_server_rests": "A rest is locked alone, when a server has or hasn't answered.",
    "otp_static_staticdevice": "django-otp locks a person's device alone while it checks a code.",
    "otp_totp_totpdevice": "As above.",
    "staff_sessions": "Expired sessions are deleted by SKIP LOCKED, in transactions of their own.",
}


def check(sql: str, frame: FrameType) -> Iterator[str]:
    """Name the tables whose rows a statement locks unannounced."""
    locked = [table for table in locked_tables(sql) if table not in EXCEPTIONS]
    if not locked or is_sent_by_a_test(frame):
        return
    for table in locked:
        if table not in held_locks():
            yield f"locks {table} without announcing it"


@lru_cache(maxsize=20_000)
def locked_tables(sql: str) -> tuple[str, ...]:
    """The tables whose rows a statement locks explicitly, other than against foreign keys alone."""
    found = _LOCK.search(sql)
    if not found:
        return ()
    tables = {match["alias"] or match["table"]: match["table"] for match in _TABLE.finditer(sql)}
    tables |= {table: table for table in tables.values()}
    if found["of"]:
        names = [name.strip(' "').split('"')[0] for name in found["of"].split("\n")[0].split(",")]
        return tuple(tables[name.split()[0]] for name in names)
    first = _TABLE.search(sql)
    return (first["table"],) if first else ()

"""Log lines as JSON objects, with the ids of their request, account and dispatch, and without personal data."""

import logging
import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

import orjson
from django.db import DataError
from psycopg import DataError as DriverDataError

from commerce.tenancy.scope import account_in_scope

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
# What a worker is running, also between the scopes of its transactions.
_running: ContextVar[Mapping[str, object] | None] = ContextVar("running", default=None)

MASK = "***"
# A person's email address in any text. Looser than the standard, since masking too much does no harm.
_EMAIL = re.compile(r"[^\s@<>\"'(),;:=\[\]{}]+@[^\s@<>\"'(),;:=\[\]{}]+")
# PostgreSQL's details repeat the values of rows: `Key (email)=(...) already exists`, `Failing row contains (...)`.
# They end where the next part of the error begins, or with the text of the error.
_DETAIL = re.compile(r"^(DETAIL|CONTEXT|HINT|LINE \d+):.*", re.MULTILINE | re.DOTALL)
# Errors about values repeat them in quotes: `invalid literal for int() with base 10: '...'`, `invalid input syntax for type bigint: "..."`.
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'", re.DOTALL)

# As Python writes them.
_CAUSED = "\nThe above exception was the direct cause of the following exception:\n\n"
_MEANWHILE = "\nDuring handling of the above exception, another exception occurred:\n\n"


@contextmanager
def log_as(request: str | None, **ids: object) -> Iterator[None]:
    """Log what happens inside, in this thread, with these ids, and as part of the request."""
    tokens = request_id.set(request), _running.set(ids)
    try:
        yield
    finally:
        request_id.reset(tokens[0])
        _running.reset(tokens[1])


class JSONFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _make_loggable(record.getMessage()),
        }
        entry |= find_ids()
        if record.exc_info and record.exc_info[1] is not None:
            entry["traceback"] = _encodable(format_error(record.exc_info[1]))
        return orjson.dumps(entry).decode()


def find_ids() -> dict[str, object]:
    """The ids of the request, account and dispatch that this thread works on."""
    ids = {"request_id": request_id.get(), "account_id": account_in_scope(), **(_running.get() or {})}
    return {name: value for name, value in ids.items() if value is not None}


def remove_values(text: str) -> str:
    """Remove what may be personal data from the text of any error: quoted values, details and email addresses."""
    return _make_loggable(_QUOTED.sub(f'"{MASK}"', _DETAIL.sub(MASK, text)))


def format_error(error: BaseException) -> str:
    """The traceback of an error and of what caused it, without personal data."""
    parts = [_format_alone(error)]
    seen = {id(error)}
    while (before := _find_cause(error)) is not None and id(before) not in seen:
        parts.append(_CAUSED if error.__cause__ is before else _MEANWHILE)
        parts.append(_format_alone(before))
        seen.add(id(before))
        error = before
    return _make_loggable("".join(reversed(parts)).rstrip())


def _find_cause(error: BaseException) -> BaseException | None:
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__


def _format_alone(error: BaseException) -> str:
    kind = type(error)
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"Traceback (most recent call last):\n{frames}{kind.__module__}.{kind.__qualname__}: {_read_text(error)}\n"


def _read_text(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  a library's error whose `__str__` fails
        return MASK
    text = _DETAIL.sub(MASK, text)
    return (
        _QUOTED.sub(f'"{MASK}"', text)
        if isinstance(error, ValueError | DataError | DriverDataError)
        else text
    )


def _make_loggable(text: str) -> str:
    return _EMAIL.sub(MASK, _encodable(text))


def _encodable(text: str) -> str:
    """Replace surrogates, which texts of outside services may contain."""
    return text.encode(errors="replace").decode()

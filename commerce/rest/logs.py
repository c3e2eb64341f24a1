"""Log lines as JSON objects, with the id of their request or task."""

import logging
from contextvars import ContextVar
from datetime import UTC, datetime

import orjson

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


class JSONFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _replace_surrogates(record.getMessage()),
            "request_id": request_id.get(),
        }
        if record.exc_info:
            entry["traceback"] = _replace_surrogates(self.formatException(record.exc_info))
        return orjson.dumps({key: value for key, value in entry.items() if value is not None}).decode()


def _replace_surrogates(text: str) -> str:
    """Replace surrogates, which texts of outside services may contain."""
    return text.encode(errors="replace").decode()

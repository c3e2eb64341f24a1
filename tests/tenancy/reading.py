"""A GET writes nothing; the test run checks this of every statement of the product."""

from collections.abc import Iterator
from types import FrameType

from django.http import HttpRequest

from tests.tenancy.frames import is_of_a_test, own_frames
from tests.tenancy.ownership import written_tables

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
# Tables that a GET may write, and why.
EXCEPTIONS = {"staff_sessions": "The back office remembers the only shop that a member may enter."}


def check(sql: str, frame: FrameType) -> Iterator[str]:
    """Name the tables that a GET writes."""
    tables = [table for table in written_tables(sql) if table not in EXCEPTIONS]
    request = _find_request(frame) if tables else None
    if request is not None and request.method in _SAFE:
        yield f"{request.method} {request.path} writes {', '.join(tables)}"


def _find_request(frame: FrameType) -> HttpRequest | None:
    """The request that the product is answering; None if a test itself sends the statement."""
    for own in own_frames(frame):
        if is_of_a_test(own.f_code.co_filename):
            return None
        request = own.f_locals.get("request")
        if isinstance(request, HttpRequest):
            return request
    return None

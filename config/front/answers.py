"""Hands the answers of a WSGI application to the server."""

import io
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any
from wsgiref.types import WSGIEnvironment

if TYPE_CHECKING:
    from granian.rsgi import HTTPProtocol

WSGI = Callable[[WSGIEnvironment, Callable[..., Any]], Iterable[bytes]]

_BLOCK_BYTES = 64 * 1024


class FileAnswer:
    """`wsgi.file_wrapper`: a file as a body. The server sends a whole file itself, as fast as the client reads."""

    def __init__(self, file: IO[bytes], block_size: int = _BLOCK_BYTES) -> None:
        self.file = file
        self._block_size = block_size

    def __iter__(self) -> Iterator[bytes]:
        return iter(lambda: self.file.read(self._block_size), b"")

    def close(self) -> None:
        self.file.close()

    @property
    def path(self) -> str | None:
        """None unless it is a whole file on disk."""
        name = getattr(self.file, "name", None)
        is_whole = isinstance(self.file, io.BufferedReader) and self.file.tell() == 0
        return name if is_whole and isinstance(name, str) else None


class _Start:
    """`start_response`, without its `write`, which Django doesn't call."""

    status = 500
    headers: list[tuple[str, str]]

    def __call__(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        self.status = int(status[:3])
        # Granian accepts only ASCII in headers.
        self.headers = [(name, value.encode("ascii", "replace").decode()) for name, value in headers]


def send_answer(wsgi: WSGI, environ: WSGIEnvironment, protocol: "HTTPProtocol") -> None:
    """Run the application, send its answer, and close what it opened for the request."""
    start = _Start()
    result = wsgi(environ, start)
    try:
        if isinstance(result, FileAnswer) and start.status == 200 and (path := result.path):
            protocol.response_file(start.status, start.headers, path)
        else:
            # Never streamed: the server would buffer all that a slow client doesn't read, and would end a stream that
            # fails as if it were complete.
            protocol.response_bytes(start.status, start.headers, b"".join(result))
    finally:
        if hasattr(result, "close"):
            result.close()

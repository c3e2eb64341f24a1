"""Bodies sent in chunks: WSGI knows a body by its length alone, and Django takes one without for empty."""

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

from .rendering import MAX_BODY_BYTES

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class WithContentLength:
    """Reads a chunked body, and one byte more than is allowed at the most, so that its length can be told."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
            body = environ["wsgi.input"].read(MAX_BODY_BYTES + 1)
            environ["wsgi.input"] = BytesIO(body)
            environ["CONTENT_LENGTH"] = str(len(body))
        return self.application(environ, start_response)

"""The renderer's HTTP interface: `POST /render` and `GET /healthz`."""

import logging
import socket
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from http import HTTPStatus
from traceback import format_tb
from wsgiref.types import StartResponse, WSGIEnvironment

import orjson

from emails.renderer.lanes import hold_slow_lane
from emails.renderer.limits import MAX_BODY_BYTES, limit_resources, read_processor_time
from emails.renderer.message import parse_message
from emails.renderer.problems import (
    BodyTooLarge,
    InternalError,
    MalformedRequest,
    MethodNotAllowed,
    NotFound,
    Problem,
    RendererBusy,
    UnsupportedMediaType,
)
from emails.renderer.rendering import render_message

logger = logging.getLogger(__name__)

# A response's document and headers.
_Result = tuple[dict[str, object], dict[str, str]]

_CHUNK_BYTES = 64 * 1024
# A client that sends without an end isn't listened to for ever.
_MAX_DRAINED_BYTES = 8 * 1024 * 1024


def application(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    try:
        document, headers = _route(environ)
        return _answer(start_response, 200, "application/json", document, headers=headers)
    except Problem as refusal:
        problem = refusal
    except Exception as error:  # noqa: BLE001  answered and logged
        # Without the error's own text, which may quote the data of an email.
        trace = "".join(format_tb(error.__traceback__))
        logger.error("Unhandled %s\n%s", type(error).__name__, trace)  # noqa: TRY400
        problem = InternalError()
    # Read the rest of a refused request: closing early would reset the connection before the client reads the answer.
    remaining = _MAX_DRAINED_BYTES
    while remaining > 0 and (chunk := environ["wsgi.input"].read(_CHUNK_BYTES)):
        remaining -= len(chunk)
    return _answer(
        start_response,
        problem.status,
        "application/problem+json",
        problem.build_document(),
        headers=problem.headers,
    )


def _route(environ: WSGIEnvironment) -> _Result:
    route = _ROUTES.get(environ["PATH_INFO"])
    if route is None:
        raise NotFound
    method, handler = route
    if environ["REQUEST_METHOD"] != method:
        raise MethodNotAllowed(allowed=method)
    return handler(environ)


def _render(environ: WSGIEnvironment) -> _Result:
    """`Server-Timing` gives the processor time in milliseconds."""
    message = parse_message(_read_object(environ))
    # Before rendering: requests wait in the backlog, and a caller gives up after a while.
    if _has_hung_up(environ):
        raise RendererBusy("The caller has gone.")
    began = read_processor_time()
    lane = environ.get("HTTP_X_RENDER_LANE")
    with hold_slow_lane() if lane == "slow" else nullcontext(), limit_resources(is_quick=lane == "quick"):
        document = asdict(render_message(message))
    took_ms = (read_processor_time() - began) * 1000
    return document, {"Server-Timing": f"cpu;dur={took_ms:.1f}"}


def _has_hung_up(environ: WSGIEnvironment) -> bool:
    """Whether the caller has closed the connection, while it waited for a worker: nobody needs the message then."""
    connection: socket.socket | None = environ.get("gunicorn.socket")
    if connection is None:
        return False
    # Peeking takes nothing from the connection, and doesn't wait: there is nothing to read while the caller waits.
    try:
        return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


_ROUTES: dict[str, tuple[str, Callable[[WSGIEnvironment], _Result]]] = {
    "/healthz": ("GET", lambda _environ: ({"status": "ok"}, {})),
    "/render": ("POST", _render),
}


def _read_object(environ: WSGIEnvironment) -> dict[str, object]:
    if environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() != "application/json":
        raise UnsupportedMediaType
    # One byte more than is allowed tells that there is more. The length that the client declares isn't trusted.
    body: bytes = environ["wsgi.input"].read(MAX_BODY_BYTES + 1)
    if len(body) > MAX_BODY_BYTES:
        raise BodyTooLarge
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedRequest(f"The body is not JSON: {error}.", line=error.lineno) from error
    if not isinstance(document, dict):
        raise MalformedRequest
    return document


def _answer(
    start_response: StartResponse,
    status: int,
    content_type: str,
    document: dict[str, object],
    *,
    headers: dict[str, str] | None = None,
) -> list[bytes]:
    body = orjson.dumps(document)
    fields = {"Content-Type": content_type, "Content-Length": str(len(body)), **(headers or {})}
    start_response(f"{status} {HTTPStatus(status).phrase}", list(fields.items()))
    return [body]

"""Runs requests in this process, through the code that the web process runs between its event loop and the database.

Loads Django, unlike the rest of this package, so it is imported only by programs that get the stack's environment.
"""

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from config.front.answers import send_answer
from config.front.bodies import Body
from config.front.environ import build_environ
from config.wsgi import application

from .messages import Answer, Request

if TYPE_CHECKING:
    from granian.rsgi import HTTPProtocol, Scope


def send(request: Request) -> Answer:
    """Send a request to Django's handler. Raises `StackError` for a refusal that isn't meant to come."""
    protocol = _Protocol()
    environ = build_environ(_make_scope(request), Body.of(request.body))
    send_answer(application, environ, cast("HTTPProtocol", protocol))
    return request.check(protocol.answer)


class _Protocol:
    """Takes the place of the server's protocol, which sends the answer to the client."""

    answer = Answer(0, b"")

    def response_bytes(self, status: int, headers: object, body: bytes) -> None:
        self.answer = Answer(status, body)


def _make_scope(request: Request) -> "Scope":
    """What the server tells of a request (RSGI)."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    scope = SimpleNamespace(
        http_version="1.1",
        method=request.method,
        path=request.path,
        query_string="",
        scheme="http",
        server="127.0.0.1:80",
        client="127.0.0.1:50000",
        headers=headers | {"content-type": "application/json", "content-length": str(len(request.body))},
    )
    return cast("Scope", scope)

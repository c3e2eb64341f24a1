"""The product, served by a process of its own for each request, which is killed at the point that the request names.

Points are passed before and after each commit of the database and each call of Stripe's: `before commit 1`,
`after call 2`. An answer says which ones its request has passed.
"""

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import wraps
from socketserver import ForkingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import stripe
from django.db.backends.base.base import BaseDatabaseWrapper

from config.wsgi import application

DIES = "X-Dies"
PASSED = "X-Passed"

_passed: list[str] = []
_numbers: Counter[str] = Counter()


class _Server(ForkingMixIn, WSGIServer):
    """Forks a process for each request."""


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Don't log requests."""


def serve(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    os.environ[DIES] = environ.get("HTTP_X_DIES", "")

    def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
        return start_response(status, [*headers, (PASSED, ", ".join(_passed))], *more)

    return application(environ, start)


def make_mortal(owner: type, method: str, name: str) -> None:
    """Make each call of a method pass a point before and after it."""
    function = getattr(owner, method)

    @wraps(function)
    def mortal(*args: Any, **kwargs: Any) -> Any:
        _numbers[name] += 1
        number = _numbers[name]
        _pass(f"before {name} {number}")
        result = function(*args, **kwargs)
        _pass(f"after {name} {number}")
        return result

    setattr(owner, method, mortal)


def _pass(point: str) -> None:
    if os.environ[DIES] == point:
        os.kill(os.getpid(), signal.SIGKILL)
    _passed.append(point)


def main() -> None:
    make_mortal(BaseDatabaseWrapper, "commit", "commit")
    make_mortal(stripe.RequestsClient, "request", "call")
    with _Server(("127.0.0.1", int(sys.argv[1])), _QuietHandler) as server:
        server.set_app(serve)
        server.serve_forever()


if __name__ == "__main__":
    main()

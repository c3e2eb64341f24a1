"""The RSGI application: reads bodies on the event loop, and runs Django in a few threads."""

import asyncio
import resource
import time
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Iterable
from typing import Any

import orjson

from commerce.errors import Refusal
from commerce.metrics import count_request
from commerce.rest.errors import ServerBusy
from commerce.rest.middleware import usable_request_id
from commerce.rest.problems import CONTENT_TYPE, refusal_document
from config.front.answers import send_answer
from config.front.bodies import Body, BodyRefused, read_body
from config.front.environ import REFUSAL, environ_of
from config.front.threads import Threads

WSGI = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_MAX_FILES = 65_536
_HEALTHY = b'{"status": "ok"}'


class Front:
    """Answers `/healthz` itself, so that a process whose threads are all taken is still seen to live."""

    def __init__(
        self,
        wsgi: WSGI,
        *,
        threads: int,
        max_waiting: int = 512,
        max_wait_s: float = 10,
        patience_s: float = 10,
    ) -> None:
        self._wsgi = wsgi
        self._patience_s = patience_s
        self._threads = Threads(threads, max_waiting=max_waiting)
        self._max_wait_s = max_wait_s

    def __rsgi_init__(self, loop: AbstractEventLoop) -> None:
        """Called in the process that serves, once it was forked."""
        _allow_many_connections()
        self._threads.start()

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        headers = scope.headers
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if not has_body and scope.path == "/healthz" and scope.method in {"GET", "HEAD"}:
            _answer_health(scope, protocol)
            return
        body, refusal = Body.empty(), None
        if has_body:
            try:
                body = await read_body(headers, protocol, patience_s=self._patience_s)
            except BodyRefused as refused:
                refusal = refused.refusal
        await self._answer_in_thread(scope, protocol, body, refusal)

    async def _answer_in_thread(self, scope: Any, protocol: Any, body: Body, refusal: Refusal | None) -> None:
        loop = asyncio.get_running_loop()
        answered: Future[None] = loop.create_future()
        asked_at = time.monotonic()

        def answer() -> None:
            try:
                if time.monotonic() - asked_at > self._max_wait_s:
                    _answer_busy(scope, protocol)
                else:
                    self._run_wsgi(scope, protocol, body, refusal)
            finally:
                body.close()
                loop.call_soon_threadsafe(_set_done, answered)

        if self._threads.submit(answer):
            await answered
        else:
            body.close()
            _answer_busy(scope, protocol)

    def _run_wsgi(self, scope: Any, protocol: Any, body: Body, refusal: Refusal | None) -> None:
        environ = environ_of(scope, body)
        if refusal is not None:
            environ[REFUSAL] = refusal
        send_answer(self._wsgi, environ, protocol)


def _answer_health(scope: Any, protocol: Any) -> None:
    headers = [
        ("content-type", "application/json"),
        ("x-request-id", usable_request_id(scope.headers.get("x-request-id", ""))),
    ]
    protocol.response_bytes(200, headers, _HEALTHY)
    count_request(route="healthz", method=scope.method, status=200, seconds=0.0)


def _answer_busy(scope: Any, protocol: Any) -> None:
    """Where Django can't be asked, since its threads are what is missing."""
    refusal = ServerBusy()
    request_id = usable_request_id(scope.headers.get("x-request-id", ""))
    document = refusal_document(refusal, None) | {"request_id": request_id}
    headers = [("content-type", CONTENT_TYPE), ("x-request-id", request_id), ("retry-after", "1")]
    # A page of any origin may ask the storefront, and so may read why it was refused.
    headers.append(("access-control-allow-origin", "*"))
    protocol.response_bytes(refusal.status, headers, orjson.dumps(document))
    count_request(route="none", method=scope.method, status=refusal.status, seconds=0.0)


def _set_done(answered: "Future[None]") -> None:
    if not answered.done():
        answered.set_result(None)


def _allow_many_connections() -> None:
    """As many files as the process may open: each waiting connection is one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

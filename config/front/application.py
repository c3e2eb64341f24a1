"""The RSGI application: reads bodies on the event loop, and runs Django in a few threads."""

import asyncio
import resource
import time
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Iterable
from typing import Any

from commerce.errors import Refusal
from config.front.answers import send_answer
from config.front.bodies import Body, BodyRefused, read_body, require_plain
from config.front.callers import caller_of, target_of
from config.front.environ import REFUSAL, environ_of
from config.front.own_answers import answer_busy, answer_error, answer_health
from config.front.sockets import drop_silent_clients
from config.front.threads import Threads
from config.front.turns import Work

WSGI = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_MAX_FILES = 65_536


class Front:
    """Answers `/healthz` itself, so that a process whose threads are all busy still proves that it is alive."""

    def __init__(
        self,
        wsgi: WSGI,
        *,
        threads: int,
        spare_threads: int = 0,
        max_waiting: int = 512,
        max_wait_s: float = 10,
        patience_s: float = 10,
        max_silence_s: float = 60,
    ) -> None:
        self._wsgi = wsgi
        self._patience_s = patience_s
        self._threads = Threads(threads, spare=spare_threads, max_waiting=max_waiting)
        self._max_wait_s = max_wait_s
        self._max_silence_s = max_silence_s
        self._has_begun = False

    def __rsgi_init__(self, loop: AbstractEventLoop) -> None:
        """Called in the serving process, after the fork."""
        _allow_many_connections()
        self._threads.start()

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        try:
            if not self._has_begun:
                # Not in __rsgi_init__, as the server opens its listening socket after that.
                self._has_begun = True
                drop_silent_clients(self._max_silence_s)
            await self._answer(scope, protocol)
        except Exception as error:  # noqa: BLE001  it is logged
            answer_error(scope, protocol, error)

    async def _answer(self, scope: Any, protocol: Any) -> None:
        headers = scope.headers
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if not has_body and scope.path == "/healthz" and scope.method in {"GET", "HEAD"}:
            answer_health(scope, protocol)
            return
        body, refusal = Body.empty(), None
        if has_body:
            try:
                body = await read_body(headers, protocol, patience_s=self._patience_s)
                require_plain(headers)
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
                    answer_busy(scope, protocol)
                else:
                    self._run_wsgi(scope, protocol, body, refusal)
            except Exception as error:  # noqa: BLE001  it is logged
                answer_error(scope, protocol, error)
            finally:
                body.close()
                loop.call_soon_threadsafe(_set_done, answered)

        work = Work(answer, caller=caller_of(scope), target=target_of(scope, body))
        if self._threads.submit(work):
            await answered
        else:
            body.close()
            answer_busy(scope, protocol)

    def _run_wsgi(self, scope: Any, protocol: Any, body: Body, refusal: Refusal | None) -> None:
        environ = environ_of(scope, body)
        if refusal is not None:
            environ[REFUSAL] = refusal
        send_answer(self._wsgi, environ, protocol)


def _set_done(answered: "Future[None]") -> None:
    if not answered.done():
        answered.set_result(None)


def _allow_many_connections() -> None:
    """Raise the limit of open files, as each waiting connection needs one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

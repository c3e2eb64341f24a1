"""The RSGI application: reads bodies on the event loop, and runs Django in a few threads."""

import asyncio
import resource
import time
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable
from typing import TYPE_CHECKING

from commerce.errors import Refusal
from config.front.answers import WSGI, send_answer
from config.front.bodies import Body, BodyRefused, read_body, require_plain
from config.front.callers import (
    Caller,
    find_target,
    identify_caller,
    is_slow_to_parse,
    names_cart_in_body,
    read_cart_token,
)
from config.front.environ import REFUSAL, build_environ
from config.front.own_answers import answer_busy, answer_error, answer_health
from config.front.signals import call_when_told_to_end
from config.front.sockets import drop_silent_clients
from config.front.threads import Threads
from config.front.turns import Work

if TYPE_CHECKING:
    from granian.rsgi import HTTPProtocol, Scope

_MAX_FILES = 65_536
# The target of parsing large bodies.
_LARGE = "a large body"


class _NoPlace(Exception):
    """There is no place for the request to wait, or it has lost its place."""


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
        # Each waiting connection needs an open file.
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        # Threads don't survive a fork.
        self._threads.start()
        call_when_told_to_end(loop, self._threads.close)

    async def __rsgi__(self, scope: "Scope", protocol: "HTTPProtocol") -> None:
        try:
            if not self._has_begun:
                # Not in __rsgi_init__, as the server opens its listening socket after that.
                self._has_begun = True
                drop_silent_clients(self._max_silence_s)
            await self._answer(scope, protocol)
        except Exception as error:  # noqa: BLE001  it is logged
            answer_error(scope, protocol, error)

    async def _answer(self, scope: "Scope", protocol: "HTTPProtocol") -> None:
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
        await self._answer_in_turn(scope, protocol, body, refusal)

    async def _answer_in_turn(
        self, scope: "Scope", protocol: "HTTPProtocol", body: Body, refusal: Refusal | None
    ) -> None:
        asked_at = time.monotonic()
        environ = build_environ(scope, body)
        if refusal is not None:
            environ[REFUSAL] = refusal

        def answer() -> None:
            try:
                if time.monotonic() - asked_at > self._max_wait_s:
                    answer_busy(scope, protocol)
                else:
                    send_answer(self._wsgi, environ, protocol)
            except Exception as error:  # noqa: BLE001  it is logged
                answer_error(scope, protocol, error)
            finally:
                body.close()

        caller, target = identify_caller(environ), find_target(environ)
        try:
            if names_cart_in_body(environ):
                target = await self._find_cart_token(body, caller)
            await self._run_in_turn(answer, caller, target)
        except _NoPlace:
            body.close()
            answer_busy(scope, protocol)

    async def _find_cart_token(self, body: Body, caller: Caller) -> str | None:
        """A large body is parsed in a thread, one at a time for each caller. Raises `_NoPlace`."""
        if not is_slow_to_parse(body):
            return read_cart_token(body)
        found: list[str | None] = []
        await self._run_in_turn(lambda: found.append(read_cart_token(body)), caller, _LARGE)
        return found[0] if found else None

    async def _run_in_turn(self, run: Callable[[], None], caller: Caller, target: str | None) -> None:
        """Run in a thread when it is the caller's turn. Raises `_NoPlace`."""
        loop = asyncio.get_running_loop()
        ended: Future[bool] = loop.create_future()

        def run_and_tell() -> None:
            try:
                run()
            finally:
                loop.call_soon_threadsafe(_mark_ended, ended, True)

        def refuse() -> None:
            loop.call_soon_threadsafe(_mark_ended, ended, False)

        self._threads.submit(Work(run_and_tell, refuse, caller.name, caller.lane, target))
        if not await ended:
            raise _NoPlace


def _mark_ended(ended: "Future[bool]", has_run: bool) -> None:
    # It is done already if the task that waits for it was cancelled.
    if not ended.done():
        ended.set_result(has_run)

"""Keeps sessions with other services: connections can't be shared by threads or after a fork, but are worth reusing."""

import os
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar

T = TypeVar("T")


class PerThread(Generic[T]):
    """Keeps what `make` returns for its arguments, once for each process and thread. Drops the one unused longest.

    Not `threading.local`: a forked process would keep its parent's connections, and nothing would bound their number.
    """

    def __init__(self, make: Callable[..., T], *, maxsize: int) -> None:
        @lru_cache(maxsize)
        def kept(_process_id: int, _thread_id: int, *arguments: object) -> T:
            return make(*arguments)

        self._kept = kept

    def __call__(self, *arguments: object) -> T:
        # Python reuses the ids of threads. A new thread then gets what nobody else uses any more.
        return self._kept(os.getpid(), threading.get_ident(), *arguments)

    def clear(self) -> None:
        self._kept.cache_clear()


def keep_per_thread(*, maxsize: int) -> Callable[[Callable[..., T]], PerThread[T]]:
    return lambda make: PerThread(make, maxsize=maxsize)

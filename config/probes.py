"""Runs checks that may hang in threads of their own, so that the caller gets an answer in time."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Probe(Generic[T]):
    """One check. It isn't started again while it runs, so a hanging one costs one thread."""

    def __init__(self, question: Callable[[], T]) -> None:
        self._question = question
        self._lock = Lock()
        self._asked: Future[T] | None = None

    def ask(self) -> "Future[T]":
        """Start the check; the future holds its result or exception."""
        with self._lock:
            if self._asked is None or self._asked.done():
                self._asked = Future()
                # A daemon, so that the process can end without waiting for it.
                Thread(target=self._answer, args=(self._asked,), daemon=True).start()
            return self._asked

    def _answer(self, asked: "Future[T]") -> None:
        try:
            answer = self._question()
        except Exception as error:  # noqa: BLE001  raised in the caller
            asked.set_exception(error)
        else:
            asked.set_result(answer)

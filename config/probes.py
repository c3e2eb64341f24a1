"""Questions that may hang, asked in a thread of their own so that whoever asks is answered in time."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Probe(Generic[T]):
    """One question. While it has not been answered it is not asked again: a hanging one costs one thread."""

    def __init__(self, question: Callable[[], T]) -> None:
        self._question = question
        self._lock = Lock()
        self._asked: Future[T] | None = None

    def ask(self) -> "Future[T]":
        """The answer, or exception, to come."""
        with self._lock:
            if self._asked is None or self._asked.done():
                self._asked = Future()
                # A daemon, since a process that is to end must not wait for the answer.
                Thread(target=self._answer, args=(self._asked,), daemon=True).start()
            return self._asked

    def _answer(self, asked: "Future[T]") -> None:
        try:
            answer = self._question()
        except Exception as error:  # noqa: BLE001  whoever asked gets it
            asked.set_exception(error)
        else:
            asked.set_result(answer)

"""A double of Resend. It honours idempotency keys, and answers with errors where a test says so."""

import threading
import time
import uuid
from typing import Any

from tests.emails.json_server import Answer, JsonServer, Request


class Resend(JsonServer):
    """`received` are the messages that it accepted, by key.

    `answers` are the statuses of the next requests instead, with `words` as their text.
    """

    def __init__(self, *, port: int = 0, delay_s: float = 0) -> None:
        super().__init__(port=port)
        self.delay_s = delay_s
        self.requests: list[dict[str, Any]] = []
        self.received: dict[str | None, dict[str, Any]] = {}
        self.ids: dict[str | None, str] = {}
        self.answers: list[int] = []
        self.retry_after: str | None = None
        self.location: str | None = None
        self.words = "No."
        self.hangs_up = False
        self._lock = threading.Lock()

    def reply(self, request: Request) -> Answer | None:
        self.requests.append(request._asdict())
        time.sleep(self.delay_s)
        answer = self.take(request.headers.get("Idempotency-Key"), request.message)
        return None if self.hangs_up else answer

    def take(self, key: str | None, message: dict[str, Any]) -> Answer:
        with self._lock:
            if self.answers:
                return self._refuse(self.answers.pop(0), "told_to_fail", self.words)
            if self.received.setdefault(key, message) != message:
                return self._refuse(409, "invalid_idempotent_request")
            return Answer(200, {"id": self.ids.setdefault(key, str(uuid.uuid4()))}, {})

    def _refuse(self, status: int, name: str, words: str = "No.") -> Answer:
        told = {"Retry-After": self.retry_after if status == 429 else None, "Location": self.location}
        headers = {name: value for name, value in told.items() if value is not None}
        return Answer(status, {"statusCode": status, "name": name, "message": words}, headers)

"""A double of Resend. It honours idempotency keys, and answers with errors where a test says so."""

import json
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Resend(ThreadingHTTPServer):
    """`received` are the messages that it accepted, by key.

    `answers` are the statuses of the next requests instead, with `words` as their text.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *, port: int = 0, delay_s: float = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.delay_s = delay_s
        self.requests: list[dict[str, Any]] = []
        self.received: dict[str, dict[str, Any]] = {}
        self.ids: dict[str, str] = {}
        self.answers: list[int] = []
        self.retry_after: str | None = None
        self.words = "No."
        self.hangs_up = False
        self._lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that were killed before they got their answer."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def take(self, key: str, message: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        with self._lock:
            if self.answers:
                return _error(self.answers.pop(0), "told_to_fail", self.words)
            if self.received.setdefault(key, message) != message:
                return _error(409, "invalid_idempotent_request")
            return 200, {"id": self.ids.setdefault(key, str(uuid.uuid4()))}


def _error(status: int, name: str, words: str = "No.") -> tuple[int, dict[str, Any]]:
    return status, {"statusCode": status, "name": name, "message": words}


class _Handler(BaseHTTPRequestHandler):
    server: Resend
    protocol_version = "HTTP/1.1"
    # Head and body in one packet: a second one would wait for the client's delayed acknowledgement.
    wbufsize = -1

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({"path": self.path, "headers": dict(self.headers), "message": message})
        time.sleep(self.server.delay_s)
        status, answer = self.server.take(self.headers["Idempotency-Key"], message)
        if self.server.hangs_up:
            self.close_connection = True
            return
        body = json.dumps(answer).encode()
        self.send_response(status)
        if status == 429 and self.server.retry_after is not None:
            self.send_header("Retry-After", self.server.retry_after)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass

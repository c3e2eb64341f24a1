"""A local double of VIES that answers like the Commission's test service, by the requested number."""

import json
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VALID, INVALID = "100", "200"
# The Commission's test numbers and their meanings.
FAILURES = {
    "201": "INVALID_INPUT",
    "202": "INVALID_REQUESTER_INFO",
    "300": "SERVICE_UNAVAILABLE",
    "301": "MS_UNAVAILABLE",
    "302": "TIMEOUT",
    "400": "VAT_BLOCKED",
    "401": "IP_BLOCKED",
    "500": "GLOBAL_MAX_CONCURRENT_REQ",
    "501": "GLOBAL_MAX_CONCURRENT_REQ_TIME",
    "600": "MS_MAX_CONCURRENT_REQ",
    "601": "MS_MAX_CONCURRENT_REQ_TIME",
}


class ViesDouble(ThreadingHTTPServer):
    """Answers test numbers by their meaning, others as `stands_for` says, and all the rest as valid.

    `reply`, a status and a body, replaces every answer. `before_answer` and `delay_s` precede each.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stands_for: dict[str, str] = {}
        self.name = "Hut & Söhne GmbH"
        self.reply: tuple[int, bytes] | None = None
        self.headers: dict[str, str] = {}
        self.delay_s = 0.0
        self.before_answer: Callable[[], Any] = lambda: None
        self.questions: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, question: dict[str, Any]) -> tuple[int, bytes]:
        if self.reply is not None:
            return self.reply
        number = question["vatNumber"]
        meaning = self.stands_for.get(number, number)
        if meaning in FAILURES:
            failure = {"actionSucceed": False, "errorWrappers": [{"error": FAILURES[meaning]}]}
            return 500, json.dumps(failure).encode()
        verdict = {"valid": meaning != INVALID, "name": "---" if meaning == INVALID else self.name}
        about = {"requestDate": "2026-11-21T10:00:00.000Z", "requestIdentifier": "", "address": "---"}
        return 200, json.dumps(question | about | verdict).encode()


class _Handler(BaseHTTPRequestHandler):
    server: ViesDouble

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.questions.append({"path": self.path, **question})
        self.server.before_answer()
        time.sleep(self.server.delay_s)
        status, body = self.server.answer(question)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        self.send_response(status)
        for name, value in (headers | self.server.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass

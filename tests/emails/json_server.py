"""A server for JSON over HTTP whose own share of the processor is small, as it runs beside the workers that are measured.

Connections are kept alive, as those of real services are. For one request it takes a fifth of the time of `http.server`.
"""

import json
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any, NamedTuple


class Request(NamedTuple):
    path: str
    headers: dict[str, str]
    message: dict[str, Any]


class Answer(NamedTuple):
    status: int
    message: dict[str, Any]
    headers: dict[str, str]


class JsonServer(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that were killed before they got their answer."""

    def reply(self, request: Request) -> Answer | None:
        """The answer to a request; None hangs up without one."""
        raise NotImplementedError


class _Handler(StreamRequestHandler):
    server: JsonServer
    # Head and body in one packet: a second one would wait for the client's delayed acknowledgement.
    wbufsize = -1

    def handle(self) -> None:
        while (request := self._read()) and (answer := self.server.reply(request)):
            self._write(answer)

    def _read(self) -> Request | None:
        first = self.rfile.readline().decode()
        if not first:
            return None
        headers = {}
        while line := self.rfile.readline().decode().strip():
            name, _, value = line.partition(": ")
            headers[name] = value
        body = self.rfile.read(int(headers["Content-Length"]))
        return Request(first.split()[1], headers, json.loads(body))

    def _write(self, answer: Answer) -> None:
        body = json.dumps(answer.message).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))} | answer.headers
        lines = [f"HTTP/1.1 {answer.status} Status", *(f"{name}: {value}" for name, value in headers.items())]
        self.wfile.write("\r\n".join([*lines, "", ""]).encode() + body)
        self.wfile.flush()

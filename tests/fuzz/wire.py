"""Raw HTTP: requests are sent unchanged, right or wrong, and responses are parsed like a client would."""

import socket
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse

TIMEOUT_S = 30


@dataclass(frozen=True, slots=True)
class Request:
    """`is_malformed` if it isn't valid HTTP: the server may then hang up or send its own error."""

    method: bytes
    target: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""
    is_chunked: bool = False
    is_malformed: bool = False

    def sent(self) -> bytes:
        head = [self.method + b" " + self.target + b" HTTP/1.1"]
        head += [name + b": " + value for name, value in self.headers]
        body = self.body
        if self.is_chunked:
            head.append(b"Transfer-Encoding: chunked")
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in _parts(body)) + b"0\r\n\r\n"
        elif body or self.method in (b"POST", b"PUT", b"PATCH"):
            head.append(b"Content-Length: %d" % len(body))
        return b"\r\n".join(head) + b"\r\n\r\n" + body


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` is None if the connection ended without one."""

    status: int | None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Wire:
    """One kept-alive connection, reopened when the server closes it."""

    def __init__(self, port: int) -> None:
        self._port = port
        # Responses lost with connections that the server had promised to keep.
        self.dropped = 0
        self._socket: socket.socket | None = None

    def send(self, request: Request) -> Answer:
        """Send a request, and again if a kept connection turns out to be closed, like clients do."""
        is_kept = self._socket is not None
        answer = self._send(request)
        if answer.status is None and is_kept and not request.is_malformed:
            self.dropped += 1
            answer = self._send(request)
        return answer

    def _send(self, request: Request) -> Answer:
        connection = self._socket or socket.create_connection(("127.0.0.1", self._port), timeout=TIMEOUT_S)
        self._socket = None
        try:
            # A server may refuse and close before it has read everything.
            with_head = _sent(connection, request.sent())
            answer = HTTPResponse(connection, method=request.method.decode("latin-1"))
            answer.begin()
            body = answer.read()
            is_over = answer.will_close or request.is_malformed or not with_head
        except (OSError, HTTPException):
            connection.close()
            return Answer(status=None)
        headers = {name.lower(): value for name, value in answer.getheaders()}
        if is_over or headers.get("connection", "").lower() == "close":
            connection.close()
        else:
            self._socket = connection
        return Answer(status=answer.status, headers=headers, body=body)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


def _sent(connection: socket.socket, data: bytes) -> bool:
    try:
        connection.sendall(data)
    except OSError:
        return False
    return True


def _parts(body: bytes) -> list[bytes]:
    size = max(1, len(body) // 3)
    return [body[start : start + size] for start in range(0, len(body), size)]

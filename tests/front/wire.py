"""Raw HTTP over one connection, for requests that no client library would send."""

import json
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

_TIMEOUT_S = 120


class Dropped(Exception):
    """The server closed the connection instead of answering."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def announces_close(self) -> bool:
        return self.headers.get("connection", "").lower() == "close"

    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S)
        self._reader = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._reader.close()
        self._socket.close()

    def send(self, line: str, *headers: str, body: bytes = b"", host: str = "localhost") -> None:
        head = "\r\n".join([f"{line} HTTP/1.1", f"Host: {host}", *headers, "", ""])
        self._socket.sendall(head.encode("latin-1") + body)

    def send_more(self, part: bytes) -> None:
        self._socket.sendall(part)

    def stop_sending(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def answer(self, *, to_head: bool = False) -> Answer:
        """Read a response. Raises `Dropped`."""
        try:
            first = self._reader.readline()
        except ConnectionError as error:
            raise Dropped(str(error)) from None
        if not first:
            raise Dropped("end of the connection")
        headers = {}
        while line := self._reader.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        body = b""
        if not to_head:
            body = (
                self._chunked()
                if "transfer-encoding" in headers
                else self._reader.read(int(headers["content-length"]))
            )
        return Answer(int(first.split()[1]), headers, body)

    def fileno(self) -> int:
        """For `select`."""
        return self._socket.fileno()

    def is_closed(self) -> bool:
        """Return whether the server closes the connection, waiting for it."""
        try:
            return self._reader.read(1) == b""
        except ConnectionError:
            return True

    def rest(self) -> bytes:
        """Read everything that still arrives."""
        data = bytearray()
        with suppress(ConnectionError):
            while part := self._reader.read1(1024 * 1024):
                data += part
        return bytes(data)

    def _chunked(self) -> bytes:
        parts = []
        while size := int(self._reader.readline(), 16):
            parts.append(self._reader.read(size))
            self._reader.readline()
        self._reader.readline()
        return b"".join(parts)


def ask(port: int, line: str, *headers: str, body: bytes = b"") -> Answer:
    """Send one request on a new connection."""
    with Wire(port) as wire:
        if body:
            headers = (*headers, f"Content-Length: {len(body)}")
        wire.send(line, *headers, body=body)
        return wire.answer(to_head=line.startswith("HEAD"))

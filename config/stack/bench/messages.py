"""Requests encoded in advance, and answers parsed as little as possible, to keep the load generator cheap."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

_TOKEN = re.compile(rb'"token":"([^"]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request of an operation. `encoded` is what is sent over the wire."""

    operation: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    encoded: bytes

    @classmethod
    def make(
        cls,
        operation: str,
        line: str,
        *,
        headers: Mapping[str, str],
        body: Mapping[str, object] | None = None,
    ) -> "Request":
        """Encode a request. `line` is the method and the path; `headers` contain the host and the key."""
        method, _, path = line.partition(" ")
        content = b"" if body is None else json.dumps(body).encode()
        head = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        head += ["Content-Type: application/json", f"Content-Length: {len(content)}", "", ""]
        return cls(
            operation=operation,
            method=method,
            path=path,
            headers=headers,
            body=content,
            encoded="\r\n".join(head).encode() + content,
        )

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Answer(NamedTuple):
    status: int
    body: bytes

    @property
    def token(self) -> str:
        """The first token in the body, which is the resource's own; empty if there is none."""
        found = _TOKEN.search(self.body)
        return found[1].decode() if found else ""

"""Requests encoded in advance, and answers parsed as little as possible, to keep the load generator cheap."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from config.stack.errors import StackError

_TOKEN = re.compile(rb'"token":"([^"]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request of an operation. `encoded` is what is sent over the wire.

    `refusal` is the status of the refusal that is meant to come; None if the request is to succeed.
    """

    operation: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    encoded: bytes
    refusal: int | None = None

    @classmethod
    def make(
        cls,
        operation: str,
        line: str,
        *,
        headers: Mapping[str, str],
        body: Mapping[str, object] | None = None,
        refusal: int | None = None,
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
            refusal=refusal,
        )

    def check(self, answer: "Answer") -> "Answer":
        """Return the answer. Raises `StackError` if its status isn't the one that is meant to come."""
        is_expected = 200 <= answer.status < 300 if self.refusal is None else answer.status == self.refusal
        if not is_expected:
            raise StackError(f"{self} was answered {answer.status}: {answer.body.decode()}")
        return answer

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

"""Records requests and their answers as examples of the API document."""

from collections import defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import orjson
from django.conf import settings
from django.http import HttpResponse

from tests.clients import ApiClient
from tests.examples.masks import Mask
from tests.openapi import operation_of, read_path

FOLDER = settings.BASE_DIR / "docs" / "examples"


class Recorder:
    """The first answer of each operation, and the published events by their type."""

    def __init__(self) -> None:
        self.operations: dict[str, tuple[str, dict[str, Any]]] = {}
        self.events: dict[str, Any] = {}

    def note(self, method: str, path: str, body: Any, answer: HttpResponse) -> None:
        operation = operation_of(method, path.partition("?")[0])
        assert operation is not None, f"{method} {path} isn't documented"
        assert answer.status_code < 300, f"{method} {path}: {answer.content.decode()}"
        found: dict[str, Any] = {}
        if parameters := read_path(path.partition("?")[0]) | dict(parse_qsl(path.partition("?")[2])):
            found["parameters"] = parameters
        if body is not None:
            found["request"] = body
        found["status"] = answer.status_code
        if answer.content:
            found["answer"] = orjson.loads(answer.content)
        self.operations.setdefault(operation["operationId"], (operation["tags"][0], found))

    def make_files(self) -> dict[Path, bytes]:
        """The files of examples, one for each tag and one for the events, with their masked contents."""
        mask = Mask()
        by_tag: dict[str, dict[str, Any]] = defaultdict(dict)
        # In the order in which they were sent, so that the same things get the same substitutes each time.
        for name, (tag, found) in self.operations.items():
            by_tag[tag][name] = mask.hide(found)
        by_tag["events"] = {name: mask.hide(self.events[name]) for name in sorted(self.events)}
        return {
            FOLDER / f"{tag.replace(': ', '-')}.json": _print(dict(sorted(examples.items())))
            for tag, examples in by_tag.items()
        }


def _print(examples: dict[str, Any]) -> bytes:
    return orjson.dumps(examples, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


class RecordingClient(ApiClient):
    """A client whose requests are recorded. They have to succeed."""

    def __init__(self, client: ApiClient, recorder: Recorder) -> None:
        super().__init__(client.prefix, client.headers)
        self._recorder = recorder

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        answer = super().send(method, path, body, **headers)
        full_path = path if path.startswith("/") else self.prefix + path
        self._recorder.note(
            method, full_path, orjson.loads(body) if isinstance(body, bytes) else body, answer
        )
        return answer

    def do(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send a request, and return its answer."""
        answer = self.send(method, path, body, **headers)
        return orjson.loads(answer.content) if answer.content else None

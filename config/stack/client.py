"""Calls the API of a running stack as any client would. A refusal ends the command."""

import json
from collections.abc import Callable
from time import perf_counter
from typing import Any, Self

import requests

from config.stack.errors import StackError
from config.versions import CURRENT_VERSION

Json = dict[str, Any]
Summary = Callable[[Json], str]

_TIMEOUT_SECONDS = 15
_SHOWN_TOKEN = 6
_SHOWN_PATH = 56


class ApiClient:
    """Calls one surface with one key. Requests that are given a `summary` function are printed with its result."""

    def __init__(self, root: str, headers: dict[str, str]) -> None:
        self.root = root
        self._session = requests.Session()
        # The stack is on this machine, so the environment's proxy is not for it.
        self._session.trust_env = False
        # Have unknown fields refused: a misspelt one is a bug here.
        self._session.headers.update({"Prefer": "handling=strict"} | headers)

    @classmethod
    def storefront(cls, base_url: str, key: str) -> Self:
        return cls(f"{base_url}/storefront/{CURRENT_VERSION}", {"X-Storefront-Key": key})

    @classmethod
    def admin(cls, base_url: str, handle: str, key: str) -> Self:
        """The admin surface of one account, or of the workspace if the handle is empty."""
        root = f"{base_url}/admin/{CURRENT_VERSION}"
        return cls(f"{root}/{handle}" if handle else root, {"Authorization": f"Bearer {key}"})

    def get(self, path: str, summary: Summary | None = None) -> Json:
        return self._send("GET", path, summary=summary)

    def post(
        self, path: str, body: Json, summary: Summary | None = None, *, idempotency_key: str | None = None
    ) -> Json:
        return self._send("POST", path, body, summary=summary, idempotency_key=idempotency_key)

    def put(self, path: str, body: Json, summary: Summary | None = None) -> Json:
        return self._send("PUT", path, body, summary=summary)

    def delete(self, path: str) -> Json:
        return self._send("DELETE", path)

    def _send(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        summary: Summary | None = None,
        idempotency_key: str | None = None,
    ) -> Json:
        """Return the answer's document. Raises `StackError` with the problem document of a refusal."""
        began = perf_counter()
        response = self._session.request(
            method,
            f"{self.root}/{path}",
            json=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=_TIMEOUT_SECONDS,
        )
        milliseconds = (perf_counter() - began) * 1000
        step = (
            f"{method:<5} {_shorten_path(path):<{_SHOWN_PATH}} {response.status_code} {milliseconds:>5.0f} ms"
        )
        if not response.ok:
            try:
                problem = json.dumps(response.json(), indent=2, ensure_ascii=False)
            except requests.JSONDecodeError:
                problem = response.text
            raise StackError(f"{step}\n{problem}")
        document: Json = response.json()
        if summary:
            replayed = " (replayed)" if response.headers.get("Idempotent-Replayed") == "true" else ""
            print(f"{step}  {summary(document)}{replayed}", flush=True)
        return document


def _shorten_path(path: str) -> str:
    """Shorten the token in the path, and the path to the width of its column."""
    parts = path.split("/")
    if len(parts) > 1 and len(parts[1]) > 20:
        name, dot, suffix = parts[1].partition(".")
        parts[1] = f"{name[:_SHOWN_TOKEN]}…{dot}{suffix}"
    shown = "/".join(parts)
    return shown if len(shown) <= _SHOWN_PATH else f"{shown[: _SHOWN_PATH - 1]}…"

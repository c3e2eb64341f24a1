"""A client of the API: JSON in, JSON out, through the real URL configuration."""

from typing import Any

import orjson
from django.http import HttpResponse
from django.test import Client, TestCase

from config.versions import CURRENT_VERSION
from tests.openapi import assert_documented

ADMIN_ROOT = f"/admin/{CURRENT_VERSION}/"
STOREFRONT_ROOT = f"/storefront/{CURRENT_VERSION}/"


class ApiClient:
    """Sends requests below a prefix with a key's headers. A path that starts with `/` is used as given.

    Headers are given as keywords: `idempotency_key="a"` sends `Idempotency-Key: a`. A body of bytes is sent
    unchanged, anything else as JSON. Errors become responses, as they do for a client in production.
    """

    def __init__(self, prefix: str = "", headers: dict[str, str] | None = None) -> None:
        self.prefix = prefix
        self.headers = headers or {}
        self._client = Client(raise_request_exception=False)

    @classmethod
    def admin(cls, secret: str, handle: str = "") -> "ApiClient":
        """Build a client with a key of the admin API, below the account's handle or the API's root."""
        prefix = f"{ADMIN_ROOT}{handle}/" if handle else ADMIN_ROOT
        return cls(prefix, {"Authorization": f"Bearer {secret}"})

    @classmethod
    def storefront(cls, secret: str) -> "ApiClient":
        return cls(STOREFRONT_ROOT, {"X-Storefront-Key": secret})

    def get(self, path: str, **headers: str) -> HttpResponse:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.send("POST", path, body, **headers)

    def put(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.send("PUT", path, body, **headers)

    def patch(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.send("PATCH", path, body, **headers)

    def delete(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.send("DELETE", path, body, **headers)

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        sent = self.headers | {name.replace("_", "-").title(): value for name, value in headers.items()}
        content_type = sent.pop("Content-Type", "application/json")
        data = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
        full_path = path if path.startswith("/") else self.prefix + path
        # Nothing commits inside a test's transaction, so on_commit callbacks are run explicitly.
        with TestCase.captureOnCommitCallbacks(execute=True):
            answer = self._client.generic(method, full_path, data, content_type=content_type, headers=sent)
        assert_documented(method, full_path.partition("?")[0], answer.status_code, answer.content)
        return answer

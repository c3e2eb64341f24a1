"""A merchant's server, and endpoints that point to it."""

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from django.utils import timezone
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from commerce.webhooks.models import WebhookEndpoint
from tests.commerce.webhooks.rows import make_endpoint
from tests.shops import Shop


@dataclass
class Receiver:
    """Stores what it receives, and answers with `status` and `body`."""

    url: str
    status: int = 200
    body: str = "ok"
    requests: list[Request] = field(default_factory=list)

    def __call__(self, request: Request) -> Response:
        request.get_data()
        self.requests.append(request)
        return Response(self.body, status=self.status)

    @property
    def ids(self) -> list[str]:
        return [request.headers["webhook-id"] for request in self.requests]


@pytest.fixture
def receiver(httpserver: HTTPServer, settings) -> Receiver:
    settings.OUTSIDE_ALLOW_PRIVATE = True
    receiver = Receiver(httpserver.url_for("/hook"))
    httpserver.expect_request("/hook", method="POST").respond_with_handler(receiver)
    return receiver


@pytest.fixture
def endpoint(shop: Shop, receiver: Receiver) -> WebhookEndpoint:
    """An endpoint for every event that points to the receiver."""
    return make_endpoint(shop, url=receiver.url)


@pytest.fixture
def verified() -> Callable[[Request, str], bool]:
    """Whether a request has a valid signature with a secret, verified as specified by Standard Webhooks."""

    def verify(request: Request, secret: str) -> bool:
        key = base64.b64decode(secret.split("_", 1)[1])
        head = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}."
        expected = base64.b64encode(hmac.digest(key, head.encode() + request.get_data(), hashlib.sha256))
        given = [signature.split(",", 1) for signature in request.headers["webhook-signature"].split(" ")]
        is_recent = abs(timezone.now().timestamp() - int(request.headers["webhook-timestamp"])) < 300
        return is_recent and any(version == "v1" and expected.decode() == value for version, value in given)

    return verify

"""Answers that the front gives itself, without Django or because Django failed."""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

import orjson

from commerce.metrics import count_request
from commerce.rest.errors import ServerBusy
from commerce.rest.logs import request_id as logged_id
from commerce.rest.middleware import choose_request_id
from commerce.rest.problems import CONTENT_TYPE, internal_error_document, refusal_document

if TYPE_CHECKING:
    from granian.rsgi import HTTPProtocol, Scope

logger = logging.getLogger(__name__)

_HEALTHY = b'{"status": "ok"}'


def answer_health(scope: "Scope", protocol: "HTTPProtocol") -> None:
    headers = [("content-type", "application/json"), ("x-request-id", _choose_id(scope))]
    protocol.response_bytes(200, headers, _HEALTHY)
    count_request(route="healthz", method=scope.method, status=200, seconds=0.0)


def answer_busy(scope: "Scope", protocol: "HTTPProtocol") -> None:
    """Answer 503 because all threads are busy and the queue is full."""
    document = refusal_document(ServerBusy(), None)
    _answer_problem(scope, protocol, document, status=ServerBusy.status, headers={"retry-after": "1"})


def answer_error(scope: "Scope", protocol: "HTTPProtocol", error: Exception) -> None:
    """Log an uncaught error and answer it. The server's own answer would be empty."""
    request_id = _choose_id(scope)
    token = logged_id.set(request_id)
    try:
        logger.error("A request failed outside of Django", exc_info=error)
        document = internal_error_document(None)
        # The body may not have been read to its end.
        headers = {"connection": "close"}
        _answer_problem(scope, protocol, document, status=500, headers=headers, request_id=request_id)
    finally:
        logged_id.reset(token)


def _answer_problem(
    scope: "Scope",
    protocol: "HTTPProtocol",
    document: dict[str, object],
    *,
    status: int,
    headers: Mapping[str, str],
    request_id: str | None = None,
) -> None:
    request_id = request_id or _choose_id(scope)
    sent = [("content-type", CONTENT_TYPE), ("x-request-id", request_id), *headers.items()]
    # Pages of any origin may call the storefront, so they may also read its refusals.
    sent.append(("access-control-allow-origin", "*"))
    protocol.response_bytes(status, sent, orjson.dumps(document | {"request_id": request_id}))
    count_request(route="none", method=scope.method, status=status, seconds=0.0)


def _choose_id(scope: "Scope") -> str:
    return choose_request_id(scope.headers.get("x-request-id", ""))

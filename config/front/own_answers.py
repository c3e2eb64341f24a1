"""Answers that the front gives itself, without Django or because Django failed."""

import logging
from typing import Any

import orjson

from commerce.metrics import count_request
from commerce.rest.errors import ServerBusy
from commerce.rest.logs import request_id as logged_id
from commerce.rest.middleware import choose_request_id
from commerce.rest.problems import CONTENT_TYPE, internal_error_document, refusal_document

logger = logging.getLogger(__name__)

_HEALTHY = b'{"status": "ok"}'


def answer_health(scope: Any, protocol: Any) -> None:
    headers = [("content-type", "application/json"), ("x-request-id", _request_id(scope))]
    protocol.response_bytes(200, headers, _HEALTHY)
    count_request(route="healthz", method=scope.method, status=200, seconds=0.0)


def answer_busy(scope: Any, protocol: Any) -> None:
    """Answer 503 because all threads are busy and the queue is full."""
    _answer_problem(scope, protocol, refusal_document(ServerBusy(), None), {"retry-after": "1"})


def answer_error(scope: Any, protocol: Any, error: Exception) -> None:
    """Log an uncaught error and answer it. The server's own answer would be empty."""
    request_id = _request_id(scope)
    token = logged_id.set(request_id)
    try:
        logger.error("A request failed outside of Django", exc_info=error)
        document = internal_error_document(None)
        # The body may not have been read to its end.
        _answer_problem(scope, protocol, document, {"connection": "close"}, request_id)
    finally:
        logged_id.reset(token)


def _answer_problem(
    scope: Any, protocol: Any, document: dict[str, Any], more: dict[str, str], request_id: str | None = None
) -> None:
    request_id = request_id or _request_id(scope)
    headers = [("content-type", CONTENT_TYPE), ("x-request-id", request_id), *more.items()]
    # Pages of any origin may call the storefront, so they may also read its refusals.
    headers.append(("access-control-allow-origin", "*"))
    body = orjson.dumps(document | {"request_id": request_id})
    protocol.response_bytes(document["status"], headers, body)
    count_request(route="none", method=scope.method, status=document["status"], seconds=0.0)


def _request_id(scope: Any) -> str:
    return choose_request_id(scope.headers.get("x-request-id", ""))

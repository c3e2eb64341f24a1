"""`POST /webhooks/stripe/{account_id}`: Stripe's notification that a session has changed.

An event is only a hint: a dispatch asks Stripe for the state and settles the attempt, even if the customer never
returns. The dispatch's key is the event's id, so an event delivered twice creates one dispatch.
"""

from typing import Any

import orjson
import stripe
from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from commerce.configuration.queries import effective
from commerce.errors import MalformedRequest, Refusal
from commerce.outbox.operations import enqueue
from commerce.payments.errors import InvalidSignature
from commerce.rest.problems import as_refusal, refusal_response, takes_only
from commerce.tenancy.scope import account_scope

TOLERANCE_S = 300
_TYPES = frozenset(
    {
        "checkout.session.completed",
        "checkout.session.expired",
        "checkout.session.async_payment_succeeded",
        "checkout.session.async_payment_failed",
    }
)
_LONGEST_ID = 200
_LONGEST_NUMBER = 18


@takes_only("POST")
def receive(request: HttpRequest, account_id: int) -> HttpResponse:
    try:
        with account_scope(account_id):
            event = _verified(request, account_id)
            is_ours = _settle(event, account_id)
    except (Refusal, RequestDataTooBig, DatabaseError, InterfaceError) as error:
        refusal = as_refusal(error)
        if refusal is None:
            raise
        return refusal_response(refusal, request)
    return JsonResponse({"received": True} if is_ours else {"received": True, "ignored": True})


def _verified(request: HttpRequest, account_id: int) -> dict[str, Any]:
    """The event, verified with the account's secret. An unknown account is refused like a wrong signature."""
    secret = str(effective("commerce.payments.stripe_webhook_secret")) if _exists(account_id) else ""
    header = request.headers.get("Stripe-Signature", "")
    try:
        stripe.WebhookSignature.verify_header(request.body, header, secret, TOLERANCE_S)
    except (stripe.SignatureVerificationError, TypeError, ValueError) as error:
        # The library's refusal, or its errors for a header or body with unexpected characters.
        raise InvalidSignature from error
    return _event(request.body)


def _event(body: bytes) -> dict[str, Any]:
    try:
        event = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedRequest("The body is not a JSON object.") from error
    if not isinstance(event, dict) or not _is_id(event.get("id")):
        raise MalformedRequest("This is no event of Stripe.")
    return event


def _exists(account_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM accounts WHERE id = %s)", [account_id])
        return cursor.fetchone()[0]


def _settle(event: dict[str, Any], account_id: int) -> bool:
    """Enqueue settling the event's attempt. False if the event is about something else."""
    payload = _payload(event, account_id) if event.get("type") in _TYPES else None
    if payload is None:
        return False
    key = f"stripe/{event['id']}"
    enqueue(task_name="settle_payment", payload=payload, idempotency_key=key, now=timezone.now())
    return True


def _payload(event: dict[str, Any], account_id: int) -> dict[str, Any] | None:
    """The attempt named in the session's metadata; None if the session isn't ours."""
    session = _object(_object(event, "data"), "object")
    metadata = _object(session, "metadata")
    attempt_id, reference = str(metadata.get("attempt_id")), session.get("id")
    is_number = attempt_id.isascii() and attempt_id.isdigit() and len(attempt_id) <= _LONGEST_NUMBER
    if metadata.get("account_id") != str(account_id) or not is_number or not _is_id(reference):
        return None
    return {"attempt_id": int(attempt_id), "reference": reference}


def _object(outer: dict[str, Any], name: str) -> dict[str, Any]:
    inner = outer.get(name)
    return inner if isinstance(inner, dict) else {}


def _is_id(value: Any) -> bool:
    return (
        isinstance(value, str) and value.isascii() and value.isprintable() and 0 < len(value) <= _LONGEST_ID
    )

"""The events in the API document: as messages to webhook endpoints (`webhooks` of OpenAPI 3.1)."""

from typing import Any

from commerce.events.types import EventType
from commerce.rest.openapi_examples import load_examples

Schema = dict[str, Any]

_MEANINGS = {
    EventType.CHECKOUT_CREATED: "A shopper has started a checkout.",
    EventType.CHECKOUT_ABANDONED: "A checkout has ended without an order. Its stock is free again.",
    EventType.CHECKOUT_COMPLETED: "A checkout has become an order.",
    EventType.CHECKOUT_PAYMENT_FAILED: "A payment has failed or was given up. The shopper may pay again.",
    EventType.ORDER_CANCELLED: "An order was cancelled.",
    EventType.ORDER_FULFILLED: "An order was shipped.",
    EventType.ORDER_PAID: "An order was marked as paid.",
    EventType.VOUCHER_DEPLETED: "Nothing is left on a gift card.",
    EventType.VOUCHER_EXPIRED: "A gift card has expired.",
    EventType.VOUCHER_ISSUED: "A gift card was issued.",
    EventType.VOUCHER_REDEEMED: "An amount was taken from a gift card.",
    EventType.VOUCHER_REVOKED: "A gift card was revoked for fraud.",
    EventType.EMAIL_SENT: "The email provider has taken an email.",
    EventType.EMAIL_DELIVERED: "An email has arrived.",
    EventType.EMAIL_OPENED: "An email was opened.",
    EventType.EMAIL_CLICKED: "A link in an email was followed.",
    EventType.EMAIL_BOUNCED: "An email has come back.",
    EventType.WEBHOOK_ENDPOINT_DISABLED: "An endpoint was disabled after failures. It is sent nothing more.",
}
_HEADERS = {
    "webhook-id": "The event's id. It is the same in every attempt.",
    "webhook-timestamp": "When this attempt was made, in seconds since 1970.",
    "webhook-signature": "`v1,` and the HMAC-SHA-256 of id, timestamp and body by Standard Webhooks, in Base64. Two of them "
    "while a secret is being replaced.",
}
_RESPONSES = {
    "2XX": {"description": "Received."},
    "410": {"description": "The endpoint is gone: it is disabled, and sent nothing more."},
    "default": {
        "description": "Not received: the event is sent again later, up to five times in about three hours."
    },
}


def describe_events() -> Schema:
    """Each type of event as a message to webhook endpoints that want it."""
    return {event_type.value: {"post": _describe(event_type)} for event_type in EventType}


def _describe(event_type: EventType) -> Schema:
    schema = {
        "allOf": [{"$ref": "#/components/schemas/EventOutput"}],
        "properties": {"type": {"const": event_type.value}},
    }
    body = {"schema": schema, "example": load_examples().get(event_type.value)}
    return {
        "operationId": f"event_{event_type.value.replace('.', '_')}",
        "summary": _MEANINGS[event_type].partition(".")[0],
        "description": f"{_MEANINGS[event_type]} The same event is in the feed, `events.json`.",
        "tags": ["events"],
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": True,
                "schema": {"type": "string"},
                "description": text,
            }
            for name, text in _HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": _RESPONSES,
    }

"""The API document of `POST /webhooks/provider`, which is not a view of the REST framework."""

from collections.abc import Mapping

from commerce.errors import ValidationFailed
from commerce.rest.openapi import webhook_operation
from emails.errors import AccountNotResolved, InvalidSignature
from emails.tracking import EFFECTS

_MESSAGE_ID = {"type": "string", "maxLength": 255, "description": "The provider's id of the message."}
_EVENT = {
    "type": "object",
    "required": ["type", "data"],
    "properties": {
        "type": {
            "type": "string",
            "maxLength": 100,
            "description": f"Handled: {', '.join(sorted(EFFECTS))}. Other types are acknowledged and ignored.",
        },
        "created_at": {"type": ["string", "null"], "format": "date-time"},
        "data": {
            "type": "object",
            "description": "Both members are required for handled types.",
            "properties": {"email_id": _MESSAGE_ID, "created_at": {"type": "string", "format": "date-time"}},
        },
    },
}
_ANSWER = {
    "type": "object",
    "required": ["received", "duplicate"],
    "additionalProperties": False,
    "properties": {
        "received": {"const": True},
        "duplicate": {"type": "boolean", "description": "The event was received before."},
        "ignored": {"type": "boolean", "description": "The type is not handled."},
    },
}
_ACCOUNT = {"type": "string", "pattern": "^[0-9]{1,18}$"}


def _describe_header(
    name: str, description: str, schema: Mapping[str, object] | None = None
) -> dict[str, object]:
    return {"name": name, "in": "header", "description": description, "schema": schema or {"type": "string"}}


DOCUMENT = webhook_operation(
    "webhooks_provider",
    "The account is found by the message. If a header or the query names an account, it must be the message's. The event "
    "moves the delivery's status forward, never back, and is published as an event of the shop. A repeated event changes "
    "nothing.\n\nThe signature is checked against `commerce.email.provider_webhook_secret`; Svix and Standard Webhooks "
    "signatures are accepted too.",
    summary="Receive an event of the email provider",
    security={"ProviderSignature": []},
    parameters=[
        _describe_header("X-Account-Id", "The account that sent the message.", _ACCOUNT),
        {
            "name": "account_id",
            "in": "query",
            "description": "The same, if headers can't be set.",
            "schema": _ACCOUNT,
        },
        _describe_header("svix-id", "Id of the event, with `svix-timestamp` and `svix-signature`."),
        _describe_header("webhook-id", "Id of the event, with `webhook-timestamp` and `webhook-signature`."),
    ],
    request=_EVENT,
    answer=_ANSWER,
    refuses=[InvalidSignature, AccountNotResolved, ValidationFailed],
)

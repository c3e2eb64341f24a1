"""What the API document says of `POST /webhooks/provider`, which is no view of the REST framework."""

from typing import Any

from commerce.rest.openapi import webhook_operation
from emails.tracking import EFFECTS

_MESSAGE_ID = {"type": "string", "maxLength": 255, "description": "The provider's id of the message."}
_EVENT = {
    "type": "object",
    "required": ["type", "data"],
    "properties": {
        "type": {
            "type": "string",
            "maxLength": 100,
            "description": f"Handled: {', '.join(sorted(EFFECTS))}. Any other type is answered and ignored.",
        },
        "created_at": {"type": ["string", "null"], "format": "date-time"},
        "data": {
            "type": "object",
            "description": "Both members are required for the types that are handled.",
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
        "duplicate": {"type": "boolean", "description": "The event has come before."},
        "ignored": {"const": True, "description": "The type is none that is handled."},
    },
}
_ACCOUNT = {"type": "string", "pattern": "^[0-9]{1,18}$"}


def _header(name: str, description: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"name": name, "in": "header", "description": description, "schema": schema or {"type": "string"}}


DOCUMENT = webhook_operation(
    "webhooks_provider",
    "An event of the email provider. The account is that of the message, unless a header or the query names one, which "
    "must then be the message's. An event that was taken before changes nothing. The signature is checked against "
    "`commerce.email.provider_webhook_secret`; Svix and Standard Webhooks signatures are taken as well.",
    security={"ProviderSignature": []},
    parameters=[
        _header("X-Account-Id", "The account that the message is of.", _ACCOUNT),
        {
            "name": "account_id",
            "in": "query",
            "description": "The same, where headers can't be set.",
            "schema": _ACCOUNT,
        },
        _header("svix-id", "Id of the event, with `svix-timestamp` and `svix-signature`."),
        _header("webhook-id", "Id of the event, with `webhook-timestamp` and `webhook-signature`."),
    ],
    request=_EVENT,
    answer=_ANSWER,
    refusals={
        "401": "`invalid_signature`",
        "404": "`account_not_resolved`: there is no such message, or it is not of the account that was named.",
    },
)

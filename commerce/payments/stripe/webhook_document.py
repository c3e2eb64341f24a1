"""Describes `POST /webhooks/stripe/{account_id}`, which isn't a DRF view, in the API document."""

from commerce.rest.openapi import webhook_operation

_EVENT = {
    "type": "object",
    "description": "An event as Stripe sends it.",
    "required": ["id"],
    "properties": {
        "id": {"type": "string", "maxLength": 200},
        "type": {"type": "string"},
        "data": {"type": "object"},
    },
}
_ANSWER = {
    "type": "object",
    "required": ["received"],
    "additionalProperties": False,
    "properties": {
        "received": {"const": True},
        "ignored": {"const": True, "description": "The event is about nothing of this account."},
    },
}

_DOCUMENT = webhook_operation(
    "webhooks_stripe",
    "An event of Stripe about a payment of the account; Stripe is then asked what has become of it. The signature is "
    "checked against `commerce.payments.stripe_webhook_secret`.",
    security={"StripeSignature": []},
    parameters=[
        {
            "name": "account_id",
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
        }
    ],
    request=_EVENT,
    answer=_ANSWER,
    refusals={"401": "`invalid_signature`"},
)

DOCUMENTS = {"/webhooks/stripe/{account_id}": _DOCUMENT}

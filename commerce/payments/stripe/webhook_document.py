"""Describes `POST /webhooks/stripe/{account_id}`, which isn't a DRF view, in the API document."""

from commerce.errors import NotFound
from commerce.payments.errors import InvalidSignature
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
        "ignored": {"type": "boolean", "description": "The event is about nothing of this account."},
    },
}

_DOCUMENT = webhook_operation(
    "webhooks_stripe",
    "An event about a payment of the account. Stripe is then asked what has become of the payment, so that it is settled "
    "even if the shopper never returns. A repeated event changes nothing.\n\nThe signature is checked against "
    "`commerce.payments.stripe_webhook_secret`.",
    summary="Receive an event of Stripe",
    security={"StripeSignature": []},
    parameters=[
        {
            "name": "account_id",
            "in": "path",
            "required": True,
            "description": "The account whose payments the events are about.",
            "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
        }
    ],
    request=_EVENT,
    answer=_ANSWER,
    refuses=[InvalidSignature, NotFound],
)


DOCUMENTS = {"/webhooks/stripe/{account_id}": _DOCUMENT}

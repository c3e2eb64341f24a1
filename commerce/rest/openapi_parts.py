"""What all operations of the OpenAPI document refer to: the problem document, keys, headers and parameters."""

from typing import Any

Schema = dict[str, Any]


def _text(description: str, **more: object) -> Schema:
    return {"type": "string", "description": description, **more}


# Members that some refusals add. Ids and amounts are text, as everywhere.
_EXTRAS: Schema = {
    "current_version": {
        "type": "integer",
        "description": "For `version_conflict`: the version that is stored now.",
    },
    "phase": _text("For refused steps and failed payments: the checkout's phase."),
    "allowed": {
        "type": "array",
        "items": {"type": "string"},
        "description": "For `invalid_phase`: the phases in which the step may be sent.",
    },
    "required_scope": _text("For `insufficient_scope`: the scope that the key lacks."),
    "items": {
        "type": "array",
        "items": {"type": "object"},
        "description": "For `insufficient_inventory`: `variant_id`, `requested` and `available` of each variant.",
    },
    "balance_cents": _text("For `insufficient_balance`: the gift card's balance in cents."),
    "available_cents": _text("For `insufficient_balance`: what isn't held by checkouts, in cents."),
    "supported": {
        "type": "array",
        "items": {"type": "string"},
        "description": "For `unsupported_api_version`: the versions that exist.",
    },
}
PROBLEM: Schema = {
    "type": "object",
    "description": "A problem document (RFC 9457). Some refusals have further members.",
    "required": ["type", "title", "status", "detail", "code", "request_id"],
    "properties": {
        "type": _text("`urn:problem:` and the code."),
        "title": _text("What the code means."),
        "status": {"type": "integer", "description": "The HTTP status of the answer."},
        "detail": _text("What is wrong with this request, for people."),
        "code": _text("Stable, in snake_case: what programs should compare."),
        "request_id": {
            "type": ["string", "null"],
            "description": "As in `X-Request-Id`, for questions to support.",
        },
        "errors": {
            "type": "array",
            "description": "The fields that were refused.",
            "items": {
                "type": "object",
                "required": ["field", "code", "detail"],
                "properties": {
                    "field": _text("A dotted path, such as `variants.0.sku`."),
                    "code": _text("Stable, in snake_case."),
                    "detail": _text("What is wrong with the field, for people."),
                },
            },
        },
        **_EXTRAS,
    },
}
SECURITY_SCHEMES: Schema = {
    "AdminKey": {
        "type": "http",
        "scheme": "bearer",
        "description": "A workspace or admin key (`sk_...`), kept secret. Its scopes say which operations it may use.",
    },
    "StorefrontKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Storefront-Key",
        "description": "A storefront key, which selects the shop. It may be public: carts, checkouts and orders are "
        "reached by their tokens.",
    },
    "ProviderSignature": {
        "type": "apiKey",
        "in": "header",
        "name": "provider-signature",
        "description": "HMAC-SHA-256 of the body in hex.",
    },
    "StripeSignature": {
        "type": "apiKey",
        "in": "header",
        "name": "Stripe-Signature",
        "description": "Stripe's signature of the event.",
    },
}
_IDEMPOTENCY = (
    "Makes it safe to send a request again: the same key with the same body runs once, and is answered with the stored "
    "answer and `Idempotent-Replayed: true`. Printable ASCII, a new one for each request, such as a UUID."
)
PARAMETERS: Schema = {
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
        "description": _IDEMPOTENCY,
    },
    "RequiredIdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
        "description": _IDEMPOTENCY,
    },
    "Prefer": {
        "name": "Prefer",
        "in": "header",
        "schema": {"type": "string"},
        "description": "`handling=strict` (RFC 7240, recommended) refuses unknown fields and parameters: "
        "422 `unknown_field` with an error for each. Otherwise the answer names them in `X-Unknown-Fields`.",
    },
}
ANSWER_HEADERS: Schema = {
    "X-Request-Id": {
        "schema": {"type": "string"},
        "description": "The request's id in the log: its own `X-Request-Id`, or a new one.",
    },
    "X-Api-Version": {"schema": {"type": "string"}, "description": "The API version of the answer."},
    "X-Unknown-Fields": {
        "schema": {"type": "string"},
        "description": "The first 20 unknown fields and parameters of the request: dotted paths, "
        "percent-encoded, separated by commas.",
    },
    "Preference-Applied": {
        "schema": {"type": "string"},
        "description": "`handling=strict` if the request asked for it and was read.",
    },
    "RateLimit-Limit": {
        "schema": {"type": "integer"},
        "description": "Requests allowed in a minute, by the limit that has the fewest left.",
    },
    "RateLimit-Remaining": {"schema": {"type": "integer"}, "description": "Requests left in this minute."},
    "RateLimit-Reset": {"schema": {"type": "integer"}, "description": "Seconds until the minute is over."},
}
FURTHER_HEADERS: Schema = {
    "Idempotent-Replayed": {
        "schema": {"const": "true"},
        "description": "The request was sent before with this Idempotency-Key, and was not run again.",
    },
    "Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait."},
}

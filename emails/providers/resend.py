"""Anymail's backend of Resend, with Resend's `Idempotency-Key`: a key is known for 24 hours."""

from typing import Any

from anymail.backends import resend

from .mime import digest_of

MAX_KEY_LENGTH = 256


class Payload(resend.ResendPayload):
    def get_request_params(self, api_url: str) -> dict[str, Any]:
        parameters = super().get_request_params(api_url)
        key = header_of(self.message.idempotency_key)
        parameters["headers"] = parameters["headers"] | {"Idempotency-Key": key}
        return parameters


class EmailBackend(resend.EmailBackend):
    def build_message_payload(self, message: Any, defaults: dict[str, Any]) -> Payload:
        return Payload(message, defaults, self)


def header_of(idempotency_key: str) -> str:
    """The key itself where a header can hold it and Resend takes it, else its digest."""
    fits = (
        len(idempotency_key) <= MAX_KEY_LENGTH and idempotency_key.isascii() and idempotency_key.isprintable()
    )
    return idempotency_key if fits else digest_of(idempotency_key)

"""Anymail's backend for Resend, plus Resend's `Idempotency-Key`, which is valid for 24 hours."""

from anymail.backends import resend
from django.core.mail import EmailMultiAlternatives

from .mime import hash_key

# Resend's limit.
MAX_KEY_LENGTH = 256


class Payload(resend.ResendPayload):
    def get_request_params(self, api_url: str) -> dict[str, object]:
        parameters = super().get_request_params(api_url)
        key = fit_key_to_header(self.message.idempotency_key)
        parameters["headers"] = parameters["headers"] | {"Idempotency-Key": key}
        return parameters


class EmailBackend(resend.EmailBackend):
    def build_message_payload(self, message: EmailMultiAlternatives, defaults: dict[str, object]) -> Payload:
        return Payload(message, defaults, self)


def fit_key_to_header(idempotency_key: str) -> str:
    """The key itself if a header can hold it and Resend accepts it, else its digest."""
    fits = (
        len(idempotency_key) <= MAX_KEY_LENGTH and idempotency_key.isascii() and idempotency_key.isprintable()
    )
    return idempotency_key if fits else hash_key(idempotency_key)

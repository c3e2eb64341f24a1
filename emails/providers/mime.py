"""A message as Django's mail backends take it."""

import hashlib
from email.errors import MessageError
from email.headerregistry import Address

from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives
from django.core.validators import validate_email

from emails.messages import Message

from .base import MessageRefused


def mail_of(message: Message, *, headers: dict[str, str] | None = None) -> EmailMultiAlternatives:
    """Raises `MessageRefused` for an address or a header that can't be sent."""
    try:
        validate_email(message.to_email)
        sender = Address(display_name=message.from_name, addr_spec=message.from_email)
        mail = EmailMultiAlternatives(
            message.subject,
            message.text,
            str(sender),
            [message.to_email],
            reply_to=[message.reply_to] if message.reply_to else None,
            headers={"Content-Language": message.locale} | (headers or {}),
        )
        mail.attach_alternative(message.html, "text/html")
        # Wrong headers are found as they are put together.
        mail.message()
    except (ValidationError, MessageError, ValueError) as error:
        raise MessageRefused(f"This is no message that can be sent: {error}") from error
    return mail


def digest_of(idempotency_key: str) -> str:
    return hashlib.sha256(idempotency_key.encode()).hexdigest()

"""Converts a message for Django's mail backends."""

import hashlib
from email.errors import MessageError
from email.header import Header
from email.headerregistry import Address
from email.utils import parseaddr
from functools import cached_property
from typing import Any

from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives
from django.core.validators import validate_email

from emails.messages import Message

from .base import MessageRefused


class _Mail(EmailMultiAlternatives):
    """Shows its subject and the sender's name as they are, also where they look like an encoded word (RFC 2047).

    Its MIME is built once, although it is built to be checked before it is sent.
    """

    def __init__(self, *args: Any, sender_name: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self._sender_name = sender_name

    def message(self, **options: Any) -> Any:
        return self._plain_message if not options else self._build(**options)

    @cached_property
    def _plain_message(self) -> Any:
        return self._build()

    def _build(self, **options: Any) -> Any:
        # Python writes ASCII as it is, and a mail program would decode what looks encoded. So it is encoded here.
        mime, subject = super().message(**options), str(self.subject)
        if _looks_encoded(subject):
            mime.replace_header("Subject", _encode(subject))
        if _looks_encoded(self._sender_name):
            _, address = parseaddr(str(mime["From"]))
            mime.replace_header("From", f"{_encode(self._sender_name)} <{address}>")
        return mime


def _looks_encoded(text: str) -> bool:
    return "=?" in text


def _encode(text: str) -> str:
    return Header(text, "utf-8").encode(linesep="")


def build_mail(message: Message, *, headers: dict[str, str] | None = None) -> EmailMultiAlternatives:
    """Raises `MessageRefused` for an address or a header that can't be sent."""
    if any("\n" in text or "\r" in text for text in (message.subject, message.reply_to, message.locale)):
        raise MessageRefused("The message can't be sent: a header has more than one line.")
    try:
        validate_email(message.to_email)
        sender = Address(display_name=message.from_name, addr_spec=message.from_email)
    except (ValidationError, MessageError, ValueError) as error:
        raise MessageRefused(f"The message can't be sent: {error}") from error
    mail = _Mail(
        message.subject,
        message.text,
        str(sender),
        [message.to_email],
        reply_to=[message.reply_to] if message.reply_to else None,
        headers={"Content-Language": message.locale} | (headers or {}),
        sender_name=message.from_name,
    )
    mail.attach_alternative(message.html, "text/html")
    return mail


def build_mime(message: Message, *, headers: dict[str, str]) -> EmailMultiAlternatives:
    """As `build_mail`, for what is sent as MIME. Building that finds more that can't be sent."""
    mail = build_mail(message, headers=headers)
    try:
        mail.message()
    except (MessageError, ValueError) as error:
        raise MessageRefused(f"The message can't be sent: {error}") from error
    return mail


def hash_key(idempotency_key: str) -> str:
    return hashlib.sha256(idempotency_key.encode()).hexdigest()

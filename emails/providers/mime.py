"""Converts a message for Django's mail backends."""

import hashlib
from collections.abc import Mapping
from email.errors import MessageError
from email.header import Header
from email.headerregistry import Address
from email.policy import compat32
from email.utils import parseaddr
from functools import cached_property, lru_cache
from secrets import token_hex
from typing import Any

from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.core.mail.message import RFC5322_EMAIL_LINE_LENGTH_LIMIT, SafeMIMEText
from django.core.validators import validate_email

from emails.messages import Message

from .base import MessageRefused

_TEXT_HEADER = """\
Content-Type: text/{subtype}; charset="utf-8"
MIME-Version: 1.0
Content-Transfer-Encoding: {encoding}

"""
# Python folds longer ones.
_MAX_HEADER_LINE = 76


class MimeMail(EmailMessage):
    """A message that is sent as MIME. That is built once, although it is built to be checked before it is sent."""

    def __init__(self, message: Message, **options: Any) -> None:
        super().__init__(**options)
        self._message = message

    def message(self, **_options: Any) -> Any:
        return self._mime

    @cached_property
    def _mime(self) -> "_Mime":
        header, subject = super().message(), str(self.subject)
        # Python writes ASCII as it is, and a mail program would decode what looks encoded. So it is encoded here, as the
        # subject and the sender's name are to be shown as they are.
        if _looks_encoded(subject):
            header.replace_header("Subject", _encode(subject))
        if _looks_encoded(self._message.from_name):
            _, address = parseaddr(str(header["From"]))
            header.replace_header("From", f"{_encode(self._message.from_name)} <{address}>")
        # As by Django, there is no empty text part.
        texts = {"plain": self._message.text} if self._message.text else {}
        return _Mime(header, texts | {"html": self._message.html})


class _Mime:
    """A header and a text in several forms, by their subtypes. It becomes the same bytes as by Python's `email`.

    That package writes texts line by line, and takes each header apart, which was half of a worker's time for a message.
    Here it only writes what has to be encoded or folded.
    """

    def __init__(self, header: Any, texts: Mapping[str, str]) -> None:
        self._header = header
        self._parts = [_write_text(text, subtype) for subtype, text in texts.items()]
        # Random, so no text has it.
        self._boundary = f"==={token_hex(16)}==="
        # Those of a single text.
        del header["Content-Type"], header["Content-Transfer-Encoding"]

    def as_bytes(self, linesep: str = "\n") -> bytes:
        start = f'Content-Type: multipart/alternative;\n boundary="{self._boundary}"\n'.encode()
        delimiter = f"\n--{self._boundary}".encode()
        written = [start, *map(_write_header, self._header.items())]
        for part in self._parts:
            written += [delimiter, b"\n", part]
        return b"".join([*written, delimiter, b"--\n"]).replace(b"\n", linesep.encode())


def _write_header(header: tuple[str, str]) -> bytes:
    name, value = header
    line = f"{name}: {value}\n"
    # Printable, as Python splits lines at some characters that aren't.
    is_plain = len(line) <= _MAX_HEADER_LINE and line[:-1].isascii() and line[:-1].isprintable()
    return line.encode() if is_plain else compat32.fold_binary(name, value)


def _write_text(text: str, subtype: str) -> bytes:
    lines = text.encode().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if _has_long_line(lines):
        return SafeMIMEText(text, subtype, "utf-8").as_bytes()
    encoding = "7bit" if text.isascii() else "8bit"
    return _TEXT_HEADER.format(subtype=subtype, encoding=encoding).encode() + lines


def _has_long_line(lines: bytes) -> bool:
    """Whether servers may refuse a line, as it is too long (RFC 5322, section 2.1.1)."""
    start = 0
    while len(lines) - start > RFC5322_EMAIL_LINE_LENGTH_LIMIT:
        # Not line by line, as most are short.
        end = lines.rfind(b"\n", start, start + RFC5322_EMAIL_LINE_LENGTH_LIMIT + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def _looks_encoded(text: str) -> bool:
    return "=?" in text


def _encode(text: str) -> str:
    return Header(text, "utf-8").encode(linesep="")


def build_mail(message: Message) -> EmailMultiAlternatives:
    """Raises `MessageRefused` for an address or a header that can't be sent."""
    mail = EmailMultiAlternatives(body=message.text, **_read_fields(message, {}))
    mail.attach_alternative(message.html, "text/html")
    return mail


def build_mime(message: Message, *, headers: dict[str, str]) -> MimeMail:
    """As `build_mail`, for what is sent as MIME. Building that finds more that can't be sent."""
    mail = MimeMail(message, **_read_fields(message, headers))
    try:
        mail.message()
    except (MessageError, ValueError) as error:
        raise MessageRefused(f"The message can't be sent: {error}") from error
    return mail


def _read_fields(message: Message, headers: dict[str, str]) -> dict[str, Any]:
    if any(map(_has_line_end, (message.subject, message.reply_to, message.locale))):
        raise MessageRefused("The message can't be sent: a header has more than one line.")
    try:
        validate_email(message.to_email)
        sender = _write_sender(message.from_name, message.from_email)
    except (ValidationError, MessageError, ValueError) as error:
        raise MessageRefused(f"The message can't be sent: {error}") from error
    return {
        "subject": message.subject,
        "from_email": sender,
        "to": [message.to_email],
        "reply_to": [message.reply_to] if message.reply_to else None,
        "headers": {"Content-Language": message.locale} | headers,
    }


def _has_line_end(text: str) -> bool:
    # Python's email package ends a line of a header also at characters such as a form feed.
    return bool(text) and text.splitlines() != [text]


# Checking an address takes as long as writing the rest of a header, and a shop has one.
@lru_cache(maxsize=1_000)
def _write_sender(name: str, address: str) -> str:
    return str(Address(display_name=name, addr_spec=address))


def hash_key(idempotency_key: str) -> str:
    return hashlib.sha256(idempotency_key.encode()).hexdigest()

"""Mail for one machine: messages become files, to be opened in a mail program or a browser."""

import hashlib
import os
import tempfile
from email.errors import MessageError
from email.headerregistry import Address
from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives
from django.core.validators import validate_email
from django.utils.text import slugify

from emails.messages import Message

from .base import MessageRefused, ProviderUnavailable


class LocalProvider:
    """Writes `<key>.eml` and `<key>.html` to a folder."""

    name = "local"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def send(self, message: Message, *, idempotency_key: str) -> str:
        name = _file_name(idempotency_key)
        message_id = f"<{name}@localhost>"
        mime = _mime_bytes(message, message_id=message_id)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # The .eml comes last: once it is there, the message has been sent and is not sent again.
            if not (self.folder / f"{name}.eml").exists():
                _write_whole(self.folder / f"{name}.html", message.html.encode())
                _write_whole(self.folder / f"{name}.eml", mime)
        except OSError as error:
            raise ProviderUnavailable(f"The message can't be written: {error}") from error
        return message_id


def _file_name(idempotency_key: str) -> str:
    """Readable, safe for any file system, and different for every key."""
    digest = hashlib.sha256(idempotency_key.encode()).hexdigest()[:16]
    words = slugify(idempotency_key.replace(".", "-").replace(":", "-"))[:60]
    return f"{words}-{digest}" if words else digest


def _mime_bytes(message: Message, *, message_id: str) -> bytes:
    headers = {"Message-ID": message_id, "Content-Language": message.locale}
    try:
        validate_email(message.to_email)
        sender = Address(display_name=message.from_name, addr_spec=message.from_email)
        mail = EmailMultiAlternatives(
            message.subject, message.text, str(sender), [message.to_email], headers=headers
        )
        mail.attach_alternative(message.html, "text/html")
        return mail.message().as_bytes()
    except (ValidationError, MessageError, ValueError) as error:
        raise MessageRefused(f"This is no message that can be sent: {error}") from error


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears under its name only when it is complete."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

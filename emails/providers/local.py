"""Writes messages to files, to be opened in a mail program or a browser."""

import os
import tempfile
from pathlib import Path

from django.utils.text import slugify

from emails.messages import Message

from .base import ProviderUnavailable
from .mime import build_mime, hash_key


class LocalProvider:
    """Writes `<key>.eml` and `<key>.html` to a folder."""

    name = "local"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def send(self, message: Message, *, idempotency_key: str) -> str:
        # Readable, safe on any file system, and unique for each key.
        digest = hash_key(idempotency_key)[:16]
        words = slugify(idempotency_key.replace(".", "-").replace(":", "-"))[:60]
        name = f"{words}-{digest}" if words else digest
        message_id = f"<{name}@localhost>"
        mime = build_mime(message, headers={"Message-ID": message_id}).message().as_bytes()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # The .eml comes last: it marks the message as sent.
            if not (self.folder / f"{name}.eml").exists():
                _write_at_once(self.folder / f"{name}.html", message.html.encode())
                _write_at_once(self.folder / f"{name}.eml", mime)
        except OSError as error:
            raise ProviderUnavailable(f"The message file can't be written: {error}") from error
        return message_id


def _write_at_once(path: Path, content: bytes) -> None:
    """Write a file so that it appears under its name only when complete."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

"""Opaque tokens and keys from the operating system's randomness."""

import secrets
import string

_BASE62 = string.digits + string.ascii_letters


def base62(length: int) -> str:
    return "".join(secrets.choice(_BASE62) for _ in range(length))


def opaque_token() -> str:
    """A handle that can't be guessed: 32 base62 characters, about 190 bits."""
    return base62(32)


def sent_token(value: object) -> str:
    """A token in a request's body, without the blanks around it, which no text field counts. Empty if it isn't text."""
    return value.strip() if isinstance(value, str) else ""

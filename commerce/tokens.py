"""Opaque tokens and keys from the operating system's randomness."""

import secrets
import string

_BASE62 = string.digits + string.ascii_letters


def generate_base62(length: int) -> str:
    return "".join(secrets.choice(_BASE62) for _ in range(length))


def generate_token() -> str:
    """A handle that can't be guessed: 32 base62 characters, about 190 bits."""
    return generate_base62(32)


def read_token(value: object) -> str:
    """A token as a client sent it, without the blanks around it, as text fields also drop them. "" if it isn't text."""
    return value.strip() if isinstance(value, str) else ""

"""Opaque tokens and keys from the operating system's randomness."""

import secrets
import string

_BASE62 = (string.digits + string.ascii_letters).encode()
# Of a random byte the lower six bits count. The last two of their 64 values are dropped, so that all characters are
# equally likely.
_CHARACTERS = (_BASE62 + b"..") * 4
_DROPPED = bytes(byte for byte in range(256) if byte % 64 >= len(_BASE62))


def generate_base62(length: int) -> str:
    text = b""
    while len(text) < length:
        # At once: a call of the system for each character takes 30 times as long.
        text += secrets.token_bytes(2 * length).translate(_CHARACTERS, _DROPPED)
    return text[:length].decode()


def generate_token() -> str:
    """A handle that can't be guessed: 32 base62 characters, about 190 bits."""
    return generate_base62(32)


def read_token(value: object) -> str:
    """A token as a client sent it, without the blanks around it, as text fields also drop them. "" if it isn't text."""
    return value.strip() if isinstance(value, str) else ""

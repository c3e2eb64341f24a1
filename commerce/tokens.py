"""Opaque tokens and keys from the operating system's randomness."""

import secrets
import string

_BASE62 = (string.digits + string.ascii_letters).encode()
# A random byte counts by its lower six bits. The last two of their 64 values are dropped, so that all characters are
# equally likely.
_CHARACTERS = (_BASE62 + b"..") * 4
_DROPPED = bytes(byte for byte in range(256) if byte % 64 >= len(_BASE62))


def generate_base62(length: int) -> str:
    text = b""
    while len(text) < length:
        # Many at once, as one system call for each character takes 30 times as long.
        text += secrets.token_bytes(2 * length).translate(_CHARACTERS, _DROPPED)
    return text[:length].decode()


def generate_token() -> str:
    """A handle that can't be guessed: 32 base62 characters, about 190 bits."""
    return generate_base62(32)


def read_token(value: object) -> str:
    """A token that a client sent, trimmed like the text fields of requests; "" if it isn't text."""
    return value.strip() if isinstance(value, str) else ""

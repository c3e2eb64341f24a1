"""Makes error texts of outside services safe to store: they may repeat the credentials that they were sent."""

import re
from collections.abc import Iterable
from urllib.parse import quote

MASK = "***"
MAX_LENGTH = 2000

# A shorter secret would also match ordinary words, and the gaps would reveal it.
_SHORTEST_SECRET = 4

_PATTERNS = (
    # RFC 3986, 3.2.1: the user information of a URL.
    (re.compile(r"(?<=://)[^\s/?#@'\"]+(?:@[^\s/?#@'\"]+)*(?=@)"), MASK),
    # RFC 9110, 11.6.2: the header, whatever its scheme; and 11.4: a scheme and a token by themselves.
    (re.compile(r"(authorization['\"]?\s*[:=]\s*['\"]?)[^\r\n'\"]+", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"\b((?i:bearer|basic)\s+)(?=\S*[0-9A-Z_=])[\w.~+/=-]{4,}"), rf"\1{MASK}"),
    # Names and values of forms, queries, JSON and Python's own notation.
    (
        re.compile(
            r"((?:password|passwd|secret|token|api[_-]?key)['\"]?\s*[:=]\s*)"
            r"(?:b?'[^']*'|b?\"[^\"]*\"|[^\s'\"&,;})\]]+)",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
)


def make_storable(text: str) -> str:
    """Remove what looks like credentials and what PostgreSQL can't store, and cut to `MAX_LENGTH`."""
    # Much longer than what is kept, so that no secret is cut in two before it is found.
    text = text[: 4 * MAX_LENGTH]
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text.replace("\x00", "").encode(errors="replace").decode()[:MAX_LENGTH]


def remove_secrets(text: str, secrets: Iterable[str]) -> str:
    """Remove these values, also where they are percent-encoded."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, MASK).replace(quote(secret, safe=""), MASK)
    return text

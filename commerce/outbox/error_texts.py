"""What is kept of an error: words of outside services, which may repeat what they were sent."""

import re
from collections.abc import Iterable
from urllib.parse import quote

MASK = "***"
MAX_LENGTH = 2000

# A shorter one would be found by chance in ordinary words, and show itself by what is missing there.
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


def storable_error(text: str) -> str:
    """Text without what looks like credentials, nor what PostgreSQL can't hold, cut to `MAX_LENGTH`."""
    # Far more than is kept, so that no secret is cut in two before it is found.
    text = text[: 4 * MAX_LENGTH]
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text.replace("\x00", "").encode(errors="replace").decode()[:MAX_LENGTH]


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Text in which none of these values stands, as it is or percent-encoded."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, MASK).replace(quote(secret, safe=""), MASK)
    return text

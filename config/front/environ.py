"""Builds the WSGI environment (PEP 3333) of an RSGI request."""

import sys
from functools import lru_cache
from typing import TYPE_CHECKING
from wsgiref.types import WSGIEnvironment

from config.front.answers import FileAnswer
from config.front.bodies import Body

if TYPE_CHECKING:
    from granian.rsgi import Scope

# Why the body was refused, if it was.
REFUSAL = "commerce.refusal"

# Replaces values with non-ASCII characters, since the server gives only the names of such headers. No valid header
# contains this character.
UNREADABLE = "\x80"

# If the first value of these can't be read, none of them counts.
_KEYS = {"x-storefront-key": "HTTP_X_STOREFRONT_KEY", "authorization": "HTTP_AUTHORIZATION"}

# WSGI has its own names for these, or they no longer hold for a body that has been read.
_OWN_NAMES = {"content-length", "content-type", "transfer-encoding"}

_SAME_FOR_ALL: WSGIEnvironment = {
    "GATEWAY_INTERFACE": "CGI/1.1",
    "SCRIPT_NAME": "",
    "SERVER_SOFTWARE": "Granian",
    "wsgi.errors": sys.stderr,
    "wsgi.file_wrapper": FileAnswer,
    "wsgi.multiprocess": True,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.version": (1, 0),
}


def build_environ(scope: "Scope", body: Body) -> WSGIEnvironment:
    server_name, server_port = _split_address(scope.server)
    version = scope.http_version
    environ = _SAME_FOR_ALL | {
        "REQUEST_METHOD": scope.method,
        "PATH_INFO": _as_latin1(scope.path),
        "QUERY_STRING": _as_latin1(scope.query_string),
        "SERVER_PROTOCOL": "HTTP/1.0" if version == "1" else f"HTTP/{version}",
        "SERVER_NAME": server_name,
        "SERVER_PORT": server_port,
        "REMOTE_ADDR": _split_address(scope.client)[0],
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": body.file,
    }
    if body.length:
        environ["CONTENT_LENGTH"] = str(body.length)
    if content_type := scope.headers.get("content-type"):
        environ["CONTENT_TYPE"] = content_type
    items = scope.headers.items()
    _add_headers(environ, items)
    names = scope.headers.keys()
    if len(names) > len(dict(items)):
        # Marked rather than left out, so that the application refuses them or treats them as wrong.
        for name in set(names).difference(name for name, _ in items):
            unreadable = "CONTENT_TYPE" if name == "content-type" else _key_of(name)
            if unreadable is not None:
                environ[unreadable] = UNREADABLE
    for name, key in _KEYS.items():
        # The server gives the first value, if it can be read.
        if key in environ and scope.headers.get(name) is None:
            environ[key] = UNREADABLE
    return environ


def _add_headers(environ: WSGIEnvironment, headers: list[tuple[str, str]]) -> None:
    """Add every header under its name. Repeated ones are joined to a list (RFC 9110, 5.3)."""
    for name, value in headers:
        key = _key_of(name)
        if key is None:
            continue
        if key in environ:
            # HTTP/2 lets clients split cookies into several headers (RFC 9113, 8.2.3).
            separator = "; " if key == "HTTP_COOKIE" else ", "
            environ[key] = f"{environ[key]}{separator}{value}"
        else:
            environ[key] = value


@lru_cache(maxsize=1024)
def _key_of(name: str) -> str | None:
    """The name of a header in WSGI; None if it is to be dropped.

    WSGI writes `-` as `_`, so that `X_Forwarded_For` would be taken for the proxy's own `X-Forwarded-For`. No header
    that we read has an underscore in its name.
    """
    if "_" in name or name in _OWN_NAMES:
        return None
    return "HTTP_" + name.upper().replace("-", "_")


def _split_address(address: str) -> tuple[str, str]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), port


def _as_latin1(text: str) -> str:
    """WSGI's strings are bytes decoded as Latin-1."""
    return text if text.isascii() else text.encode().decode("latin-1")

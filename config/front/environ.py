"""The environment of WSGI (PEP 3333) for a request of RSGI."""

import sys
from functools import lru_cache
from typing import Any

from config.front.answers import FileAnswer
from config.front.bodies import Body

# Why the request is refused, where its body could not be taken.
REFUSAL = "commerce.refusal"

# Named apart in WSGI, or no longer true of a body that has been read.
_OWN_NAMES = {"content-length", "content-type", "transfer-encoding"}

_SAME_FOR_ALL: dict[str, Any] = {
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


def environ_of(scope: Any, body: Body) -> dict[str, Any]:
    server_name, server_port = _host_and_port(scope.server)
    version = scope.http_version
    environ = _SAME_FOR_ALL | {
        "REQUEST_METHOD": scope.method,
        "PATH_INFO": _as_latin1(scope.path),
        "QUERY_STRING": _as_latin1(scope.query_string),
        "SERVER_PROTOCOL": "HTTP/1.0" if version == "1" else f"HTTP/{version}",
        "SERVER_NAME": server_name,
        "SERVER_PORT": server_port,
        "REMOTE_ADDR": _host_and_port(scope.client)[0],
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": body.file,
    }
    if body.length:
        environ["CONTENT_LENGTH"] = str(body.length)
    if content_type := scope.headers.get("content-type"):
        environ["CONTENT_TYPE"] = content_type
    _add_headers(environ, scope.headers.items())
    return environ


def _add_headers(environ: dict[str, Any], headers: list[tuple[str, str]]) -> None:
    """Every header under its name, a repeated one as the list of its values (RFC 9110, 5.3)."""
    for name, value in headers:
        key = _key_of(name)
        if key is None:
            continue
        if key in environ:
            separator = "; " if key == "HTTP_COOKIE" else ", "
            environ[key] = f"{environ[key]}{separator}{value}"
        else:
            environ[key] = value


@lru_cache(maxsize=1024)
def _key_of(name: str) -> str | None:
    """None for a header that is left out.

    WSGI writes `-` as `_`, so that `X_Forwarded_For` would be taken for the proxy's own `X-Forwarded-For`. No header
    that we read has an underscore in its name.
    """
    if "_" in name or name in _OWN_NAMES:
        return None
    return "HTTP_" + name.upper().replace("-", "_")


def _host_and_port(address: str) -> tuple[str, str]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), port


def _as_latin1(text: str) -> str:
    """WSGI's strings hold bytes."""
    return text if text.isascii() else text.encode().decode("latin-1")

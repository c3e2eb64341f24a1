"""Does before the first request what would otherwise make it slow: building the URLs, compiling templates, late imports."""

import io
import sys
from importlib import import_module
from wsgiref.types import WSGIApplication

from django.core.validators import validate_email

from commerce.reference import country_names, currencies
from commerce.rest.middleware import UNCOUNTED
from config.versions import CURRENT_VERSION

# They need neither the database nor Redis: programs are forked after this (config/stack/forkserver.py), and a
# connection can't be shared.
_PATHS = (
    "/nothing",
    f"/storefront/{CURRENT_VERSION}/carts/nobodys.json",
    f"/admin/{CURRENT_VERSION}/nobodys/orders.json",
    "/backoffice/login/",
    "/docs/",
)
# Imported when they are first needed.
_MODULES = ("babel.dates", "encodings.unicode_escape")


def warm_up(application: WSGIApplication, *, host: str) -> None:
    """Send requests to the application. `host` is one that it serves. Answers don't matter: most are errors."""
    for module in _MODULES:
        import_module(module)
    # Compiles its patterns when it is first called, which takes 20 ms.
    validate_email("nobody@example.com")
    # Four megabytes of CLDR's data.
    country_names()
    currencies()
    for path in _PATHS:
        environ = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "HTTP_HOST": host,
            # Otherwise it would only be redirected behind a proxy.
            "HTTP_X_FORWARDED_PROTO": "https",
            "SERVER_NAME": host,
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.url_scheme": "https",
            "wsgi.input": io.BytesIO(),
            "wsgi.errors": sys.stderr,
            UNCOUNTED: True,
        }
        b"".join(application(environ, lambda *_: lambda _: None))

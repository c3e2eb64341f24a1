"""Django's request handler, hardened against odd Content-Type headers."""

import re
from collections.abc import Mapping
from typing import Any
from wsgiref.types import WSGIEnvironment

import django
from django.conf import settings
from django.core.cache import close_caches
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, reset_queries
from django.http.multipartparser import MultiPartParserError
from django.utils.http import parse_header_parameters

# `; name*=charset''value` and `; name*0=part` (RFC 2231) mean nothing here, and break the parsers of media types.
_EXTENDED_PARAMETER = re.compile(r";[^;=]*\*")


class Request(WSGIRequest):
    """Decodes query strings and forms as UTF-8, whatever charset the Content-Type names.

    Django would use that charset, even if it names a codec that isn't for text, and would decode the query string
    while it constructs the request, where nothing catches the errors.
    """

    def __init__(self, environ: WSGIEnvironment) -> None:
        # Such a Content-Type loses all its parameters. Such an Accept header is dropped, which means any type.
        content_type = environ.get("CONTENT_TYPE", "")
        if _EXTENDED_PARAMETER.search(content_type):
            environ["CONTENT_TYPE"] = content_type.partition(";")[0]
        if any(_EXTENDED_PARAMETER.search(part) for part in environ.get("HTTP_ACCEPT", "").split(",")):
            del environ["HTTP_ACCEPT"]
        super().__init__(environ)

    def parse_file_upload(self, META: Mapping[str, Any], post_data: Any) -> Any:  # noqa: N803  Django's name
        try:
            return super().parse_file_upload(META, post_data)
        except TypeError as error:  # what the parser raises for extended parameters of a part
            raise MultiPartParserError("A part of the form has an invalid header.") from error

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))


class Handler(WSGIHandler):
    request_class = Request


def django_application() -> Handler:
    # The script prefix belongs to a thread, and the handler sets it for each request.
    django.setup(set_prefix=False)
    # What Django would do for each request without any effect here: no cache is used, and a thread has already returned
    # its connection when its last request ended.
    request_finished.disconnect(close_caches)
    request_started.disconnect(close_old_connections)
    if not settings.DEBUG:
        request_started.disconnect(reset_queries)
    return Handler()

"""The client of the rendering service."""

import re
import socket
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import orjson
from urllib3 import BaseHTTPResponse, PoolManager, Timeout
from urllib3.exceptions import HTTPError, ProtocolError, ReadTimeoutError

from commerce.outside.adapters import BoundedAdapter
from commerce.outside.deadline import deadline
from commerce.outside.per_thread import keep_per_thread

CONNECT_TIMEOUT_S = 2
# For the whole call, whatever it is spent on.
TOTAL_TIMEOUT_S = 10

_TIMING = re.compile(r"cpu;dur=([0-9]{1,9}(?:\.[0-9]{1,3})?)")


class RendererUnavailable(Exception):
    """There was no usable answer. The same request may succeed later."""


class RendererBusy(RendererUnavailable):
    """There is no free place for this message in the renderer."""


class RendererLate(RendererBusy):
    """The renderer did not answer in time. The message may be slow."""


class MessageTooSlow(RendererBusy):
    """The message takes more processor time than the quick lane allows."""


class RendererLost(RendererUnavailable):
    """The renderer closed the connection without an answer. The message may have made it kill its worker."""


class TemplateRefused(Exception):
    """The renderer refuses this message, and would again.

    If known, `line` counts from 1 and `field` names a field of `RenderRequest`.
    """

    def __init__(self, *, code: str, detail: str, line: int | None, field: str | None = None) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.line = line
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderRequest:
    """Liquid templates and their variables. `ctx` is JSON; its keys are the top-level variables.

    A trusted body is the platform's own. For `is_compiled_once` see emails/renderer/compiled_templates.py. The MJML is
    checked only if `wants_warnings`.
    """

    body_source: str
    subject_template: str
    ctx: dict[str, object]
    locale: str
    preheader_template: str | None = None
    body_text_template: str | None = None
    source_format: str = "mjml"
    is_trusted: bool = False
    is_compiled_once: bool = False
    wants_warnings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderWarning:
    """A fault in the MJML that didn't prevent compiling."""

    line: int | None
    tag: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    html: str
    text: str
    subject: str
    preheader: str | None
    warnings: tuple[RenderWarning, ...]
    # The processor time that the renderer reported.
    processor_s: float = 0.0


def render(*, url: str, message: RenderRequest, lane: str | None = None) -> Rendered:
    """Render a message. `url` is the renderer's base address; emails/renderer/lanes.py describes the lanes.

    Raises `RendererUnavailable`, `TemplateRefused`.
    """
    with deadline(TOTAL_TIMEOUT_S) as limit:
        try:
            response = _post(url, message, lane=lane)
            document = orjson.loads(response.data)
        except (HTTPError, orjson.JSONDecodeError) as error:
            was_connected = isinstance(error, ProtocolError | ReadTimeoutError)
            if limit.is_over:
                # The deadline shuts the connection down, which looks as if the renderer had closed it.
                kind: type[RendererUnavailable] = RendererLate
            elif was_connected and _is_listening(url):
                kind = RendererLost
            else:
                # If nothing listens any more, the renderer as a whole has ended, which is no message's fault.
                kind = RendererUnavailable
            raise kind(f"The renderer gave no usable answer: {error}") from error
    try:
        if response.status == HTTPStatus.OK:
            return _read_rendered(document, response)
        raise _build_failure(response.status, document)
    except (KeyError, TypeError) as error:
        raise RendererUnavailable(f"The renderer answered {response.status} in an unknown form.") from error


def _post(url: str, message: RenderRequest, *, lane: str | None) -> BaseHTTPResponse:
    headers = {"Content-Type": "application/json"}
    if lane:
        headers["X-Render-Lane"] = lane
    return _open_pools().urlopen(
        "POST",
        f"{url.rstrip('/')}/render",
        # UTF-8, as escapes would take up to three times the bytes, and the renderer limits them.
        body=orjson.dumps(message),
        headers=headers,
        timeout=Timeout(connect=CONNECT_TIMEOUT_S, read=TOTAL_TIMEOUT_S),
        redirect=False,
        retries=False,
    )


def _is_listening(url: str) -> bool:
    """Whether the renderer takes connections. Gunicorn does so as long as it runs, also while it replaces a worker."""
    target = urlsplit(url)
    port = target.port or (443 if target.scheme == "https" else 80)
    try:
        socket.create_connection((target.hostname or "", port), timeout=CONNECT_TIMEOUT_S).close()
    except OSError:
        return False
    return True


@keep_per_thread(maxsize=64)
def _open_pools() -> PoolManager:
    # Without the layers of `requests` above it, which take as long as the rest of the call.
    return BoundedAdapter().poolmanager


def _read_rendered(document: dict[str, Any], response: BaseHTTPResponse) -> Rendered:
    timing = _TIMING.fullmatch(response.headers.get("Server-Timing", ""))
    return Rendered(
        html=document["html"],
        text=document["text"],
        subject=document["subject"],
        preheader=document["preheader"],
        warnings=tuple(
            RenderWarning(line=warning["line"], tag=warning["tag"], message=warning["message"])
            for warning in document["warnings"]
        ),
        # `cpu;dur=12.3` is in milliseconds.
        processor_s=float(timing[1]) / 1000 if timing else 0.0,
    )


def _build_failure(status: int, problem: dict[str, Any]) -> RendererUnavailable | TemplateRefused:
    # The renderer answers 4xx if the same message would be refused again.
    if 400 <= status < 500:
        code, detail, errors = problem["code"], problem["detail"], problem.get("errors")
        field = errors[0]["field"] if errors else None
        return TemplateRefused(code=code, detail=detail, line=problem.get("line"), field=field)
    if status != HTTPStatus.SERVICE_UNAVAILABLE:
        return RendererUnavailable(f"The renderer answered {status}.")
    kind = MessageTooSlow if problem.get("code") == "too_slow_for_lane" else RendererBusy
    return kind(f"The renderer answered {status}.")

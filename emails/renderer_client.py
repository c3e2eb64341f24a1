"""The client of the rendering service."""

import os
import re
import threading
from dataclasses import asdict, dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import orjson
import requests

from commerce.outside.adapters import BoundedAdapter
from commerce.outside.deadline import deadline

CONNECT_TIMEOUT_S = 2
# For the whole call, whatever it is spent on.
TOTAL_TIMEOUT_S = 10

_TIMING = re.compile(r"cpu;dur=([0-9]{1,9}(?:\.[0-9]{1,3})?)")


class RendererUnavailable(Exception):
    """No usable answer came: the same request may succeed later."""


class RendererBusy(RendererUnavailable):
    """The renderer has no worker for this message, or the time was up while it waited for one."""


class TemplateRefused(Exception):
    """The renderer refuses this message, and would do so again.

    `line` counts from 1 and `field` is a name of `RenderRequest`, where there is one.
    """

    def __init__(self, *, code: str, detail: str, line: int | None, field: str | None = None) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.line = line
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderRequest:
    """Liquid templates and the variables for them. `ctx` holds what JSON can; its keys are top-level variables."""

    body_source: str
    subject_template: str
    ctx: dict[str, Any]
    locale: str
    preheader_template: str | None = None
    body_text_template: str | None = None
    source_format: str = "mjml"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderWarning:
    """Something in the MJML that did not keep it from being compiled."""

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
    # How much processor time it took, as far as the renderer has told.
    processor_s: float = 0.0


def render(*, url: str, message: RenderRequest, is_slow: bool = False) -> Rendered:
    """`url` is the renderer's base address. Messages that may be slow get one worker at a time.

    Raises `RendererUnavailable`, `TemplateRefused`.
    """
    with deadline(TOTAL_TIMEOUT_S) as limit:
        try:
            response = _post(url, message, is_slow=is_slow)
            document = response.json()
        except requests.RequestException as error:
            kind = RendererBusy if limit.is_over else RendererUnavailable
            raise kind(f"The renderer gave no usable answer: {error}") from error
    try:
        if response.status_code == HTTPStatus.OK:
            return _rendered(document, response)
        raise _failure(response.status_code, document)
    except (KeyError, TypeError) as error:
        raise RendererUnavailable(
            f"The renderer answered {response.status_code} in an unknown form."
        ) from error


def _post(url: str, message: RenderRequest, *, is_slow: bool) -> requests.Response:
    headers = {"Content-Type": "application/json"}
    if is_slow:
        headers["X-Render-Lane"] = "slow"
    return _session_of(os.getpid(), threading.get_ident()).post(
        f"{url.rstrip('/')}/render",
        # In UTF-8: Python's own JSON takes up to three times the bytes, of which the renderer has a limit.
        data=orjson.dumps(asdict(message)),
        headers=headers,
        timeout=(CONNECT_TIMEOUT_S, TOTAL_TIMEOUT_S),
        allow_redirects=False,
    )


@lru_cache(maxsize=64)
def _session_of(_process_id: int, _thread_id: int) -> requests.Session:
    """One per process and thread: neither after a fork nor at once can a connection be shared."""
    session = requests.Session()
    # The renderer is a neighbour; a proxy that the environment names is for the world outside.
    session.trust_env = False
    for scheme in ("http://", "https://"):
        session.mount(scheme, BoundedAdapter())
    return session


def _rendered(document: dict[str, Any], response: requests.Response) -> Rendered:
    return Rendered(
        html=document["html"],
        text=document["text"],
        subject=document["subject"],
        preheader=document["preheader"],
        warnings=tuple(
            RenderWarning(line=warning["line"], tag=warning["tag"], message=warning["message"])
            for warning in document["warnings"]
        ),
        processor_s=_processor_s(response.headers.get("Server-Timing", "")),
    )


def _processor_s(timing: str) -> float:
    """The time in `cpu;dur=12.3`, which is in milliseconds."""
    found = _TIMING.fullmatch(timing)
    return float(found[1]) / 1000 if found else 0.0


def _failure(status: int, problem: dict[str, Any]) -> RendererUnavailable | TemplateRefused:
    if 400 <= status < 500:
        return TemplateRefused(
            code=problem["code"], detail=problem["detail"], line=problem.get("line"), field=_field_of(problem)
        )
    kind = RendererBusy if status == HTTPStatus.SERVICE_UNAVAILABLE else RendererUnavailable
    return kind(f"The renderer answered {status}.")


def _field_of(problem: dict[str, Any]) -> str | None:
    errors = problem.get("errors")
    return errors[0]["field"] if errors else None

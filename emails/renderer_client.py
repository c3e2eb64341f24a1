"""The client of the rendering service."""

import os
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


class RendererUnavailable(Exception):
    """No usable answer came: the same request may succeed later."""


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


def render(*, url: str, message: RenderRequest) -> Rendered:
    """`url` is the renderer's base address. Raises `RendererUnavailable`, `TemplateRefused`."""
    try:
        with deadline(TOTAL_TIMEOUT_S):
            response = _session_of(os.getpid(), threading.get_ident()).post(
                f"{url.rstrip('/')}/render",
                # In UTF-8: Python's own JSON takes up to three times the bytes, of which the renderer has a limit.
                data=orjson.dumps(asdict(message)),
                headers={"Content-Type": "application/json"},
                timeout=(CONNECT_TIMEOUT_S, TOTAL_TIMEOUT_S),
                allow_redirects=False,
            )
        document = response.json()
    except requests.RequestException as error:
        raise RendererUnavailable(f"The renderer gave no usable answer: {error}") from error
    try:
        if response.status_code == HTTPStatus.OK:
            return _rendered(document)
        raise _failure(response.status_code, document)
    except (KeyError, TypeError) as error:
        raise RendererUnavailable(
            f"The renderer answered {response.status_code} in an unknown form."
        ) from error


@lru_cache(maxsize=64)
def _session_of(_process_id: int, _thread_id: int) -> requests.Session:
    """One per process and thread: neither after a fork nor at once can a connection be shared."""
    session = requests.Session()
    # The renderer is a neighbour; a proxy that the environment names is for the world outside.
    session.trust_env = False
    for scheme in ("http://", "https://"):
        session.mount(scheme, BoundedAdapter())
    return session


def _rendered(document: dict[str, Any]) -> Rendered:
    return Rendered(
        html=document["html"],
        text=document["text"],
        subject=document["subject"],
        preheader=document["preheader"],
        warnings=tuple(
            RenderWarning(line=warning["line"], tag=warning["tag"], message=warning["message"])
            for warning in document["warnings"]
        ),
    )


def _failure(status: int, problem: dict[str, Any]) -> RendererUnavailable | TemplateRefused:
    if 400 <= status < 500:
        return TemplateRefused(
            code=problem["code"], detail=problem["detail"], line=problem.get("line"), field=_field_of(problem)
        )
    return RendererUnavailable(f"The renderer answered {status}.")


def _field_of(problem: dict[str, Any]) -> str | None:
    errors = problem.get("errors")
    return errors[0]["field"] if errors else None

"""The client of the rendering service."""

import os
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import requests

CONNECT_TIMEOUT_S = 2
READ_TIMEOUT_S = 10


class RendererUnavailable(Exception):
    """No usable answer came: the same request may succeed later."""


class TemplateRefused(Exception):
    """The renderer refuses this message, and would do so again. `line` counts from 1, where there is one."""

    def __init__(self, *, code: str, detail: str, line: int | None) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.line = line


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
        response = _session_of(os.getpid()).post(
            f"{url.rstrip('/')}/render",
            json=asdict(message),
            timeout=(CONNECT_TIMEOUT_S, READ_TIMEOUT_S),
            allow_redirects=False,
        )
        document = response.json()
    except requests.RequestException as error:
        raise RendererUnavailable(f"The renderer gave no usable answer: {error}") from error
    if response.ok:
        return _rendered(document)
    raise _failure(response.status_code, document)

"""Compiles MJML to HTML. The only module that uses the MJML library."""

import logging
from dataclasses import dataclass
from html import escape
from typing import NoReturn

import css_inline
from mjml import mjml_to_html
from mjml import parser as mjml_parser

from emails.renderer.inliner import ForkingInliner
from emails.renderer.limits import (
    MAX_HTML_CHARACTERS,
    MAX_WARNING_CHARACTERS,
    MAX_WARNING_TAG_CHARACTERS,
    MAX_WARNINGS,
    TOO_MUCH_HTML,
)
from emails.renderer.message import MjmlWarning
from emails.renderer.mjml_source import prepare
from emails.renderer.problems import InvalidMjml, Problem, TemplateLimitExceeded

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CompiledBody:
    html: str
    warnings: list[MjmlWarning]


def compile_mjml(source: str, *, preheader: str | None) -> CompiledBody:
    """The preheader is plain text and becomes the preview. Raises `InvalidMjml`, `TemplateLimitExceeded`."""
    prepared = prepare(source, preheader=preheader)
    try:
        result = mjml_to_html(prepared.mjml)
    except (MemoryError, RecursionError, Problem):
        # The first two are passed on to `limit_resources`, which reports them as a limit.
        raise
    except Exception as error:
        # The library has no exceptions of its own: bad values raise whatever Python raises.
        logger.info("MJML was refused by its compiler", exc_info=True)
        reason = str(error) or type(error).__name__
        raise InvalidMjml(f"The MJML can't be compiled: {reason}") from error
    if len(result.html) > MAX_HTML_CHARACTERS:
        raise TemplateLimitExceeded(TOO_MUCH_HTML)
    findings = [
        MjmlWarning(line=finding.line, tag=finding.tag_name, message=finding.message)
        for finding in result.errors
    ]
    return CompiledBody(html=result.html, warnings=_shorten(prepared.warnings + findings))


def _shorten(warnings: list[MjmlWarning]) -> list[MjmlWarning]:
    """The first warnings, and how many more there are."""
    kept = [
        MjmlWarning(
            line=warning.line,
            tag=warning.tag[:MAX_WARNING_TAG_CHARACTERS],
            message=warning.message[:MAX_WARNING_CHARACTERS],
        )
        for warning in warnings[:MAX_WARNINGS]
    ]
    left_out = len(warnings) - len(kept)
    if left_out:
        kept.append(MjmlWarning(line=None, tag="mjml", message=f"{left_out} more warnings are not shown"))
    return kept


def _refuse_include(*_args: object, **_kwargs: object) -> NoReturn:
    raise ValueError("includes are not supported")


_read_attributes = mjml_parser._attributes  # noqa: SLF001  replaced below


def _read_escaped_attributes(raw: str, tag_name: str, attrs: list[tuple[str, str | None]]) -> dict[str, str]:
    return {name: escape(value) for name, value in _read_attributes(raw, tag_name, attrs).items()}


# Three holes of the library are closed here. Its version is pinned, and tests prove that they stay closed.
# It inlines CSS within the worker, which dies when the inliner does.
css_inline.CSSInliner = ForkingInliner  # type: ignore[assignment,misc]
# It reads any file that an include names.
mjml_parser.include_source = _refuse_include
mjml_parser.read_include_file = _refuse_include
# It unescapes attributes and writes them into the HTML as they are, so a variable could end its attribute:
# `href="{{ url }}"`.
mjml_parser._attributes = _read_escaped_attributes  # noqa: SLF001

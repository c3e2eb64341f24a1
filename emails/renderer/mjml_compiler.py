"""Compiles MJML to HTML. The only module that uses the MJML library."""

import logging
from dataclasses import dataclass
from html import escape
from typing import NoReturn

from mjml import mjml_to_html
from mjml import parser as mjml_parser

from emails.renderer.limits import MAX_HTML_CHARACTERS
from emails.renderer.message import MjmlWarning
from emails.renderer.mjml_source import prepare
from emails.renderer.problems import InvalidMjml, TemplateLimitExceeded

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
    except (MemoryError, RecursionError):
        # Passed on to `limit_resources`, which reports them as a limit.
        raise
    except Exception as error:
        # The library has no exceptions of its own: bad values raise whatever Python raises.
        logger.info("MJML was refused by its compiler", exc_info=True)
        reason = str(error) or type(error).__name__
        raise InvalidMjml(f"The MJML can't be compiled: {reason}") from error
    if len(result.html) > MAX_HTML_CHARACTERS:
        raise TemplateLimitExceeded(f"The message has more than {MAX_HTML_CHARACTERS} characters of HTML.")
    findings = [
        MjmlWarning(line=finding.line, tag=finding.tag_name, message=finding.message)
        for finding in result.errors
    ]
    return CompiledBody(html=result.html, warnings=prepared.warnings + findings)


def _refuse_include(*_args: object, **_kwargs: object) -> NoReturn:
    raise ValueError("includes are not supported")


_read_attributes = mjml_parser._attributes  # noqa: SLF001  replaced below


def _read_escaped_attributes(raw: str, tag_name: str, attrs: list[tuple[str, str | None]]) -> dict[str, str]:
    return {name: escape(value) for name, value in _read_attributes(raw, tag_name, attrs).items()}


# Two holes of the library are closed here. Its version is pinned, and tests prove that both stay closed.
# It reads any file that an include names.
mjml_parser.include_source = _refuse_include
mjml_parser.read_include_file = _refuse_include
# It unescapes attributes and writes them into the HTML as they are, so a variable could end its attribute:
# `href="{{ url }}"`.
mjml_parser._attributes = _read_escaped_attributes  # noqa: SLF001

"""Compiles MJML to HTML with mrml."""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

import css_inline
import mrml
from bs4 import BeautifulSoup
from mjml.helpers import remove_important_from_inlined_styles

from emails.renderer.children import run_in_child
from emails.renderer.limits import (
    MAX_HTML_CHARACTERS,
    MAX_WARNING_CHARACTERS,
    MAX_WARNING_TAG_CHARACTERS,
    MAX_WARNINGS,
    TOO_MUCH_HTML,
)
from emails.renderer.message import MjmlWarning
from emails.renderer.mjml_document import COMMENT, Document, Element, read_document
from emails.renderer.mjml_skeleton import Skeleton
from emails.renderer.mjml_source import prepare
from emails.renderer.problems import InvalidMjml, Problem, TemplateLimitExceeded

logger = logging.getLogger(__name__)

# MJML's own list. It loads these when a style names them.
_FONTS = {
    "Open Sans": "https://fonts.googleapis.com/css?family=Open+Sans:300,400,500,700",
    "Droid Sans": "https://fonts.googleapis.com/css?family=Droid+Sans:300,400,500,700",
    "Lato": "https://fonts.googleapis.com/css?family=Lato:300,400,500,700",
    "Roboto": "https://fonts.googleapis.com/css?family=Roboto:300,400,500,700",
    "Ubuntu": "https://fonts.googleapis.com/css?family=Ubuntu:300,400,500,700",
}
# Where a line may end without a change of what is shown.
_AT_TABLE = re.compile("</?(?:table|tbody|tr)")
_FONT_FAMILY = re.compile(r'font-family:([^;"}]*)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CompiledBody:
    html: str
    warnings: list[MjmlWarning]


def compile_mjml(
    source: str, *, preheader: str | None, is_trusted: bool = False, wants_warnings: bool = True
) -> CompiledBody:
    """The preheader is plain text and becomes the preview. Raises `InvalidMjml`, `TemplateLimitExceeded`.

    What isn't trusted is compiled in a process of its own.
    """
    prepared = prepare(source, preheader=preheader)
    warnings = prepared.warnings if wants_warnings else None
    try:
        document = read_document(prepared.mjml, warnings=warnings)
        html = compile_document(document) if is_trusted else run_in_child(lambda: compile_document(document))
    except (MemoryError, RecursionError, Problem):
        # The first two are passed on to `limit_resources`, which reports them as a limit.
        raise
    except Exception as error:
        # The libraries have no exceptions of their own: bad values raise whatever Python raises.
        logger.info("MJML was refused by its compiler", exc_info=True)
        reason = str(error) or type(error).__name__
        raise InvalidMjml(f"The MJML can't be compiled: {reason}") from error
    check_size(html)
    return CompiledBody(html=html, warnings=_shorten(warnings or []))


def check_size(html: str) -> None:
    """Raises `TemplateLimitExceeded`."""
    if len(html) > MAX_HTML_CHARACTERS:
        raise TemplateLimitExceeded(TOO_MUCH_HTML)


def compile_document(document: Document) -> str:
    """Compile what was read. Raises whatever the libraries raise.

    One character more than a message may have tells that there are more: the worker's memory is limited too.
    """
    skeleton = Skeleton(document)
    # mrml's own list of fonts is left empty: it looks for their names only in attributes.
    html = mrml.to_html(skeleton.mjml, render_options=mrml.RenderOptions(fonts={})).content
    inlined_css = [
        element.content.replace("&gt;", ">")
        for element in document.head
        if element.name == "mj-style" and element.attributes.get("inline") == "inline"
    ]
    used_fonts = _FONT_FAMILY.findall("\n".join([html, *skeleton.contents, *inlined_css]))
    ending = [*_load_fonts(document, "\n".join(used_fonts).lower()), *_list_raw(document.head), "</head>"]
    # mrml writes a single line, and mail may only have short ones: otherwise it has to be encoded, which takes long.
    html = _AT_TABLE.sub(r"\n\g<0>", html)
    html = html.replace("</head>", "".join(ending), 1)
    html = skeleton.fill(html)
    html = _set_html_attributes(html, document.head)
    if inlined_css:
        html = _inline(html, "".join(inlined_css))
    return (document.file_start + html)[: MAX_HTML_CHARACTERS + 1]


def _load_fonts(document: Document, used: str) -> Iterator[str]:
    named = {
        element.attributes.get("name", ""): element.attributes.get("href", "")
        for element in document.head
        if element.name == "mj-font"
    }
    links = [link for name, link in {**_FONTS, **named}.items() if name and name.lower() in used]
    if links:
        yield "<!--[if !mso]><!-->"
        for link in links:
            yield f'<link href="{link}" rel="stylesheet" type="text/css">'
        yield "".join(f'<style type="text/css">@import url({link});</style>' for link in links)
        yield "<!--<![endif]-->"


def _list_raw(head: tuple[Element, ...]) -> list[str]:
    return [element.content for element in head if element.name in ("mj-raw", COMMENT)]


def _set_html_attributes(html: str, head: tuple[Element, ...]) -> str:
    """Set attributes of what `mj-html-attributes` selects, which mrml doesn't know."""
    selectors = [
        selector
        for element in head
        if element.name == "mj-html-attributes"
        for selector in element.children
        if selector.name == "mj-selector" and selector.attributes.get("path")
    ]
    if not selectors:
        return html
    soup = BeautifulSoup(html, "html.parser")
    for selector in selectors:
        found = soup.select(unescape(selector.attributes["path"]))
        for attribute in selector.children:
            if attribute.name == "mj-html-attribute" and (name := attribute.attributes.get("name")):
                for element in found:
                    element[name] = attribute.content
    return soup.decode()


def _inline(html: str, css: str) -> str:
    inliner = css_inline.CSSInliner(
        extra_css=css,
        inline_style_tags=False,
        keep_link_tags=True,
        keep_style_tags=True,
        load_remote_stylesheets=False,
    )
    # As in MJML, whose inliner leaves it out.
    return remove_important_from_inlined_styles(html, inliner.inline(html))


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

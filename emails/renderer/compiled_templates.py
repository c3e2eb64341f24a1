"""Compiles the product's own templates once: the result is HTML with Liquid in it, which is rendered for each message.

Other templates are rendered before they are compiled, since what Liquid leaves out or repeats may change how MJML lays
out the rest: for example, the width of a column depends on how many there are. Ours are written so that it doesn't.
Tests compare both ways for each of them.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from html import escape

from liquid import BoundTemplate

from emails.renderer.liquid_templates import parse_html, render_parsed
from emails.renderer.mjml_compiler import check_size, compile_document
from emails.renderer.mjml_document import COMMENT, Element, read_document
from emails.renderer.mjml_source import prepare

_LIQUID = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)

# Takes the place of Liquid meanwhile: a comment, or plain text where there can't be one. Nobody can guess it, so no
# template contains one.
_KEY = secrets.token_hex(8)
_COMMENT = f"<!--liquid{_KEY}-{{}}_-->"
_PLAIN = f"liquid{_KEY}-{{}}_"
# The title is text, so that a comment in it is escaped.
_ANY = re.compile(f"(?:<|&lt;)!--{_PLAIN}--(?:>|&gt;)|{_PLAIN}".replace("{}", "([0-9]+)"))
_PREHEADER = f"preheader{_KEY}"


def render_compiled(
    source: str, variables: Mapping[str, object], *, preheader: str | None, field: str
) -> str:
    """Render a body to HTML. The preheader is plain text. `field` is as in `render_html`.

    Raises `TemplateSyntaxError`, `TemplateLimitExceeded`, and whatever is wrong with the MJML.
    """
    template = _compile(source, has_preheader=bool(preheader))
    # NUL as in `render_message`.
    html = render_parsed(template, variables, field=field).replace("\0", "")
    check_size(html)
    return html.replace(_PREHEADER, escape(preheader), 1) if preheader else html


# More than there are templates, in all their locales, with a preheader and without.
@lru_cache(maxsize=64)
def _compile(source: str, *, has_preheader: bool) -> BoundTemplate:
    # Variables are assigned before the document. The compiler would drop that.
    start, opening, rest = source.partition("<mjml")
    liquid: list[str] = []
    marked = _mark(opening + rest, liquid)
    prepared = prepare(marked, preheader=_PREHEADER if has_preheader else None)
    document = read_document(prepared.mjml, warnings=None)
    html = compile_document(replace(document, body=_open_comments(document.body)))
    return parse_html(start + _ANY.sub(lambda found: liquid[int(found[1] or found[2])], html))


def _mark(source: str, liquid: list[str]) -> str:
    """Replace Liquid by marks, and add it to `liquid`."""
    parts: list[str] = []
    end, is_in_tag = 0, False
    for found in _LIQUID.finditer(source):
        text = source[end : found.start()]
        if "<" in text or ">" in text:
            is_in_tag = text.rfind("<") > text.rfind(">")
        # In an attribute, there can't be a comment.
        parts += [text, (_PLAIN if is_in_tag else _COMMENT).format(len(liquid))]
        liquid.append(found[0])
        end = found.end()
    return "".join([*parts, source[end:]])


def _open_comments(element: Element) -> Element:
    """Make plain text of Liquid between sections of a wrapper: mrml puts it into comments for Outlook."""
    children = (
        replace(child, content=child.content.removeprefix("<!--").removesuffix("-->"))
        if element.name == "mj-wrapper" and child.name == COMMENT and _KEY in child.content
        else _open_comments(child)
        for child in element.children
    )
    return replace(element, children=tuple(children))

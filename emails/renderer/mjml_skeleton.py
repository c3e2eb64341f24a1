"""Writes the MJML that mrml compiles: well-formed XML, with marks in the places of text and HTML.

mrml reads all of a document as XML, and refuses what browsers and mail programs accept: `<br>` inside of a `<p>` that
isn't closed, or `a < b`. So it gets only the elements and attributes of MJML. Text and HTML are put into its result as
they were written.
"""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping

from emails.renderer.mjml_document import COMMENT, Document, Element

# What these may contain. mrml refuses a document with anything else there.
_CHILDREN = {
    "mj-accordion": {"mj-accordion-element", "mj-raw", COMMENT},
    "mj-accordion-element": {"mj-accordion-text", "mj-accordion-title"},
    "mj-carousel": {"mj-carousel-image"},
    "mj-navbar": {"mj-navbar-link", "mj-raw", COMMENT},
    "mj-social": {"mj-social-element", "mj-raw", COMMENT},
    "mj-carousel-image": set[str](),
    "mj-divider": set[str](),
    "mj-image": set[str](),
    "mj-spacer": set[str](),
}
# What holds text or HTML.
_WITH_CONTENT = {
    "mj-accordion-text",
    "mj-accordion-title",
    "mj-button",
    "mj-navbar-link",
    "mj-raw",
    "mj-social-element",
    "mj-table",
    "mj-text",
}
_IN_BODY = {
    COMMENT,
    "mj-column",
    "mj-group",
    "mj-hero",
    "mj-section",
    "mj-wrapper",
    *_CHILDREN,
    *_WITH_CONTENT,
}

_IMAGES = {"mj-carousel-image", "mj-image", "mj-social-element"}
_ZERO = re.compile(r"(?<!\S)0(?!\S)")


class Skeleton:
    """`mjml` is the document for mrml. `fill` puts the texts and the HTML into what mrml makes of it."""

    def __init__(self, document: Document) -> None:
        # Nobody can guess it, so no template contains a mark.
        self._prefix = f"mark{secrets.token_hex(8)}-"
        self._contents: list[str] = []
        parts = [*self._write_head(document), *self._write(document.body)]
        self.mjml = "".join([f"<mjml{_format(document.attributes)}>", *parts, "</mjml>"])

    def fill(self, html: str) -> str:
        mark = f"{self._prefix}([0-9]+)_"
        return re.sub(f"<!--{mark}-->|{mark}", lambda found: self._contents[int(found[1] or found[2])], html)

    @property
    def contents(self) -> Iterable[str]:
        return self._contents

    def _mark(self, content: str) -> str:
        if not content:
            return ""
        self._contents.append(content)
        return f"{self._prefix}{len(self._contents) - 1}_"

    def _write_head(self, document: Document) -> Iterator[str]:
        yield f"<mj-head><mj-attributes><mj-all{_format(document.defaults)} /></mj-attributes>"
        # Of several, the last one counts.
        last = {element.name: element for element in document.head}
        if title := last.get("mj-title"):
            # It also becomes an attribute.
            content = title.content.replace('"', "&quot;")
            yield f"<mj-title>{self._mark(content)}</mj-title>"
        if preview := last.get("mj-preview"):
            yield f"<mj-preview>{self._mark(preview.content)}</mj-preview>"
        if width := last.get("mj-breakpoint"):
            yield f"<mj-breakpoint{_format(width.attributes)} />"
        for element in document.head:
            if element.name == "mj-style" and element.attributes.get("inline") != "inline":
                # As in the MJML of others, CSS may be written like text.
                css = element.content.replace("&gt;", ">")
                yield f"<mj-style>{self._mark(css)}</mj-style>"
        yield "</mj-head>"

    def _write(self, element: Element, parent: str = "") -> Iterator[str]:
        name = element.name
        # Where only some elements are allowed, mrml accepts comments, which stay in their place, but no `mj-raw`.
        if name == COMMENT or (name == "mj-raw" and parent in _CHILDREN):
            yield f"<!--{self._mark(element.content)}-->"
            return
        # Without it, programs that block images show or read out the address of a decoration.
        attributes = {"alt": "", **element.attributes} if name in _IMAGES else element.attributes
        yield f"<{name}{_format(attributes)}>"
        if name in _WITH_CONTENT:
            yield self._mark(element.content)
        allowed = _CHILDREN.get(name, _IN_BODY)
        for child in element.children:
            if child.name in allowed:
                yield from self._write(child, name)
        yield f"</{name}>"


def _format(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{_add_unit(name, value)}"' for name, value in attributes.items())


def _add_unit(name: str, value: str) -> str:
    """mrml takes no padding with a plain `0` into account when it calculates widths, which Outlook needs."""
    return _ZERO.sub("0px", value) if "padding" in name else value

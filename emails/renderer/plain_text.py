"""The text part of a message: made from the HTML, or the template's own, tidied."""

import re

from inscriptis.css_profiles import CSS_PROFILES
from inscriptis.html_engine import Inscriptis
from inscriptis.model.config import ParserConfig
from lxml import html

from emails.renderer.limits import MAX_LINE_CHARACTERS

_CONFIG = ParserConfig(css=CSS_PROFILES["strict"])
_LINE_END_BLANKS = re.compile(r"[^\S\n]+$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")
# Tabs and line breaks are the only control characters that mail programs understand, and mail may not contain NUL
# (RFC 5322). PostgreSQL doesn't store NUL either.
_NOT_IN_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NOT_IN_A_LINE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_HIDDEN = re.compile(r"display\s*:\s*none")
_LAYOUT_PARTS = ".|./tbody|./tbody/tr|./tbody/tr/td|./tr|./tr/td"


def extract_text(document: str) -> str:
    """The visible text of an email, with the targets of its links. Data tables stay tables."""
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    # As bytes: lxml refuses text that declares an encoding.
    tree = html.document_fromstring(document.encode(), parser=parser)
    for element in tree.xpath("//*[@style]"):
        # Other styles go too, as they would be rendered as indentation.
        style = element.attrib.pop("style")
        # Hidden is the preview, for example, which mail programs show beside the subject.
        if element is not tree and _HIDDEN.search(style):
            element.drop_tree()
    # MJML uses tables for layout: each of their cells becomes a paragraph.
    for table in tree.xpath("//table[@role='presentation']"):
        for part in table.xpath(_LAYOUT_PARTS):
            part.tag = "p" if part.tag == "td" else "div"
    for link in tree.xpath("//a[starts-with(@href, 'http')]"):
        if link.text_content().strip() != link.get("href"):
            link.tail = f" ({link.get('href')}){link.tail or ''}"
    return tidy(Inscriptis(tree, _CONFIG).get_text())


def tidy(text: str) -> str:
    """Remove control characters, trailing blanks, repeated empty lines, and empty lines at the start and end."""
    text = _NOT_IN_TEXT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _LINE_END_BLANKS.sub("", text)
    return _BLANK_LINES.sub("\n\n", text).strip("\n")


def join_lines(text: str) -> str:
    """A header can't hold line breaks or control characters: each run of them becomes a space."""
    return _NOT_IN_A_LINE.sub(" ", text).strip()


def cut_line(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARACTERS else line[: MAX_LINE_CHARACTERS - 1] + "…"

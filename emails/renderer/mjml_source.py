"""Prepares MJML for the compiler: checks that tags balance, removes includes, inserts the preheader.

The compiler silently repairs unbalanced tags, and follows includes. This module finds tags with the parser that the
compiler uses, so both see the same tags.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from itertools import accumulate
from typing import Literal

from emails.renderer import limits
from emails.renderer.message import MjmlWarning
from emails.renderer.problems import InvalidMjml, TemplateLimitExceeded

_TAG_OPENING = re.compile("<[A-Za-z]")


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """MJML that is safe to compile, with unchanged line numbers, and warnings about what was removed."""

    mjml: str
    warnings: list[MjmlWarning]


@dataclass(frozen=True, slots=True)
class _Tag:
    """An MJML tag at characters `start` to `end` of the source; lines count from 1."""

    name: str
    kind: Literal["start", "end", "empty"]
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Edit:
    """Replaces the characters `start` to `end`."""

    start: int
    end: int
    text: str


def prepare(source: str, *, preheader: str | None) -> PreparedSource:
    """Raises `InvalidMjml` with the line of the first tag out of place, or `TemplateLimitExceeded`."""
    # Counted without a parser, as parsers differ in what they take for a tag (`limits.MAX_TAGS`).
    tag_count = len(_TAG_OPENING.findall(source))
    if tag_count > limits.MAX_TAGS:
        raise TemplateLimitExceeded(f"The body has more than {limits.MAX_TAGS} tags.")
    tags = _TagReader(source).tags
    # First, as the next check relies on it.
    _check_balance(tags)
    _check_inline_css(source, tags, tag_count)
    includes = [tag for tag in tags if tag.name == "mj-include"]
    # The line breaks stay, so that errors name lines as the author counts them.
    edits = [_Edit(tag.start, tag.end, "\n" * source.count("\n", tag.start, tag.end)) for tag in includes]
    if preheader:
        edits += _build_preview_edits(tags, f"<mj-preview>{escape(preheader)}</mj-preview>")
    mjml = source
    # From the end, so that the positions of the others stay right.
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        mjml = mjml[: edit.start] + edit.text + mjml[edit.end :]
    return PreparedSource(
        mjml=mjml,
        warnings=[
            MjmlWarning(
                line=tag.line, tag=tag.name, message="Includes are not supported; this one was removed"
            )
            for tag in includes
            # One warning for `<mj-include></mj-include>`.
            if tag.kind != "end"
        ],
    )


class _TagReader(HTMLParser):
    """Collects the MJML tags of a source. HTML in the content need not balance."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=False)
        self.tags: list[_Tag] = []
        self._source = source
        self._line_starts = [0, *accumulate(len(line) + 1 for line in source.split("\n"))]
        try:
            self.feed(source)
            self.close()
        except AssertionError as error:
            # The standard library raises this for an unknown marked section (`<![...]>`).
            raise InvalidMjml(str(error), line=self.lineno) from error

    def handle_starttag(self, tag: str, _attrs: Sequence[tuple[str, str | None]]) -> None:
        self._collect(tag, "start")

    def handle_startendtag(self, tag: str, _attrs: Sequence[tuple[str, str | None]]) -> None:
        self._collect(tag, "empty")

    def handle_endtag(self, tag: str) -> None:
        self._collect(tag, "end")

    def _collect(self, name: str, kind: Literal["start", "end", "empty"]) -> None:
        if name != "mjml" and not name.startswith("mj-"):
            return
        line, column = self.getpos()
        start = self._line_starts[line - 1] + column
        if kind == "end":
            # `find` gives -1 without an end.
            end = self._source.find(">", start) + 1 or len(self._source)
        else:
            end = start + len(self.get_starttag_text() or "")
        self.tags.append(_Tag(name, kind, line, start, end))


def _check_balance(tags: list[_Tag]) -> None:
    opened: list[_Tag] = []
    for tag in tags:
        if tag.kind == "start":
            opened.append(tag)
        elif tag.kind == "end":
            _close(opened, tag)
    if opened:
        raise _build_never_closed(opened[-1])


def _close(opened: list[_Tag], end: _Tag) -> None:
    if end.name not in {tag.name for tag in opened}:
        raise InvalidMjml(f"</{end.name}> has no opening tag.", line=end.line)
    last = opened.pop()
    if last.name != end.name:
        raise _build_never_closed(last)


def _build_never_closed(tag: _Tag) -> InvalidMjml:
    return InvalidMjml(f"<{tag.name}> is never closed.", line=tag.line)


def _check_inline_css(source: str, tags: list[_Tag], tag_count: int) -> None:
    """Limit the CSS that the compiler inlines. The tags are balanced."""
    size = 0
    opened: list[_Tag] = []
    for tag in tags:
        if (tag.name, tag.kind) == ("mj-style", "start"):
            opened.append(tag)
        elif (tag.name, tag.kind) == ("mj-style", "end"):
            start = opened.pop()
            # In any attribute: rather too much is counted than too little.
            if "inline" in source[start.start : start.end]:
                size += tag.start - start.end
    if size > limits.MAX_INLINE_CSS_CHARACTERS:
        raise TemplateLimitExceeded(
            f"More than {limits.MAX_INLINE_CSS_CHARACTERS} characters of CSS to inline."
        )
    if (
        size * tag_count > limits.MAX_INLINE_CSS_CHARACTERS_TIMES_TAGS
        or size**2 * tag_count > limits.MAX_SQUARED_INLINE_CSS_CHARACTERS_TIMES_TAGS
    ):
        raise TemplateLimitExceeded("Too much CSS to inline for so many tags.")


def _build_preview_edits(tags: list[_Tag], preview: str) -> list[_Edit]:
    """At the end of the head, where it overrides the template's own preview. Adds a head if there is none."""
    head_end = next((tag for tag in tags if (tag.name, tag.kind) == ("mj-head", "end")), None)
    if head_end:
        return [_Edit(head_end.start, head_end.start, preview)]
    empty_head = next((tag for tag in tags if (tag.name, tag.kind) == ("mj-head", "empty")), None)
    if empty_head:
        return [_Edit(empty_head.start, empty_head.end, f"<mj-head>{preview}</mj-head>")]
    return [
        _Edit(tag.end, tag.end, f"<mj-head>{preview}</mj-head>")
        for tag in tags
        if (tag.name, tag.kind) == ("mjml", "start")
    ][:1]

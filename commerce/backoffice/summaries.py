"""Sentences of the log that contain values.

The log is kept in English. To be shown in another language, an entry is recognised as one of these sentences again.
"""

import re

from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from .display import StrOrPromise

_PLACEHOLDER = re.compile(r"\\\{(\w+)\\\}")
_known: list["LogSentence"] = []


class LogSentence:
    """A sentence with placeholders in braces, such as `"Version {number} is used again."`. Declare it in a module."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pattern = re.compile(_PLACEHOLDER.sub(r"(?P<\1>.+?)", re.escape(text)))
        _known.append(self)

    def fill(self, **values: object) -> StrOrPromise:
        """Return the sentence with its values, which is translated when it is shown."""
        return format_lazy(gettext_lazy(self.text), **values)

    def write(self, **values: object) -> str:
        """Return the sentence in English, as the log keeps it."""
        return self.text.format(**values)


def translate_sentence(summary: str) -> str | None:
    """Return a sentence of the log in the reader's language; None if it isn't one of those that are declared."""
    for sentence in _known:
        if found := sentence.pattern.fullmatch(summary):
            return gettext(sentence.text).format(**found.groupdict())
    return None

"""Show texts of the domain, such as refusals, in the language of the reader."""

from collections.abc import Callable

from django.utils.translation import gettext

from commerce.errors import Refusal
from commerce.wording import Choice, Wording


def translate(text: str, show: Callable[[object], object] = lambda value: value) -> str:
    """Return a text of the domain in the reader's language; in English if there is no translation.

    `show` formats the values in the text.
    """
    if not isinstance(text, Wording):
        # The empty text stands for the catalogue's header.
        return gettext(text) if text else ""
    shown = {name: _show_label(show(value)) for name, value in text.parameters.items()}
    return gettext(text.sentence) % shown


def _show_label(value: object) -> object:
    if not isinstance(value, Choice):
        return value
    label = gettext(value.label)
    # English sentences have the value itself, as the API has.
    return value if label == value.label else label


def explain(refusal: Refusal) -> str:
    """Return why the request was refused, in the reader's language."""
    return translate(refusal.detail)

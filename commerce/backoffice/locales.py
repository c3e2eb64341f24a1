"""The language and number format of the person at the browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from babel import Locale, UnknownLocaleError
from django.http import HttpRequest
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

ENGLISH = Locale("en")

_locale: ContextVar[Locale] = ContextVar("locale", default=ENGLISH)


def current_locale() -> Locale:
    """Return the locale in which numbers are shown and read; English outside of a staff member's request."""
    return _locale.get()


@contextmanager
def use_locale(locale: Locale) -> Iterator[None]:
    token = _locale.set(locale)
    try:
        yield
    finally:
        _locale.reset(token)


@contextmanager
def use_language(request: HttpRequest, chosen: str = "") -> Iterator[None]:
    """Show texts in the chosen language, or else in the browser's if we have it, and numbers in a fitting format."""
    language = chosen or translation.get_language_from_request(request)
    locale = choose_locale(request.headers.get("Accept-Language", ""), language, is_chosen=bool(chosen))
    with translation.override(language), use_locale(locale):
        yield


@lru_cache(maxsize=1000)
def choose_locale(accept_language: str, language: str, *, is_chosen: bool = False) -> Locale:
    """Return the first locale of the header that belongs to the language, such as de-AT for German.

    If there is none: that of a chosen language, or else the first one with a known number format, as texts are English
    only because there is no translation.
    """
    # Longer headers aren't a browser's. Django's own limit, beyond which it cuts them.
    known = [
        locale for tag, _ in parse_accept_lang_header(accept_language[:500]) if (locale := _find_locale(tag))
    ]
    fitting = [locale for locale in known if locale.language == language]
    if is_chosen:
        return fitting[0] if fitting else Locale(language)
    return (fitting or known or [ENGLISH])[0]


def _find_locale(tag: str) -> Locale | None:
    try:
        return Locale.parse(tag, sep="-")
    except (UnknownLocaleError, ValueError):
        return None

"""The language and number format of the person at the browser, and the time zone of the shop."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from babel import Locale, UnknownLocaleError
from django.http import HttpRequest
from django.utils import timezone, translation
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
def use_preferences(request: HttpRequest, *, time_zone: str) -> Iterator[None]:
    """Show texts in the browser's language if we have it, numbers in its format, and times in this time zone."""
    language = translation.get_language_from_request(request)
    locale = choose_locale(request.headers.get("Accept-Language", ""))
    with translation.override(language), timezone.override(time_zone), use_locale(locale):
        yield


@lru_cache(maxsize=1000)
def choose_locale(accept_language: str) -> Locale:
    """Return the locale that the header asks for first, among those with known number formats; else English."""
    # Longer headers aren't a browser's. Django's own limit, beyond which it cuts them.
    for tag, _ in parse_accept_lang_header(accept_language[:500]):
        try:
            return Locale.parse(tag, sep="-")
        except (UnknownLocaleError, ValueError):
            continue
    return ENGLISH

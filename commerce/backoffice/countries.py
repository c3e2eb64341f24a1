"""Countries for forms, by their names in the reader's language."""

from functools import cache

from babel import Locale

from commerce.reference import countries

from .locales import current_locale


def list_countries() -> list[tuple[str, str]]:
    """Return the codes and names of all countries, in the order of the names."""
    return _list_countries(current_locale().language)


@cache
def _list_countries(language: str) -> list[tuple[str, str]]:
    names = Locale(language).territories
    titles = [(code, f"{names.get(code, code)} ({code})") for code in countries()]
    return sorted(titles, key=lambda title: title[1])

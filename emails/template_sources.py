"""The platform's own templates: one folder per template key, in it one per locale."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from django.conf import settings

from emails.errors import TemplateNotFound

FALLBACK_LOCALE = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSource:
    """Liquid templates of one message in one locale; `body` becomes MJML. Without `text` it is made of the body."""

    locale: str
    subject: str
    body: str
    preheader: str | None
    text: str | None


def find_template(
    template_key: str,
    *,
    locale: str | None,
    default_locale: str,
    own: Mapping[str, TemplateSource] = MappingProxyType({}),
) -> TemplateSource:
    """The template in the nearest locale there is, of `own` ones by their locale or of the platform's.

    Raises `TemplateNotFound`.
    """
    by_locale = {**platform_templates().get(template_key, {}), **own}
    for candidate in locale_chain(locale, default_locale):
        if candidate in by_locale:
            return by_locale[candidate]
    raise TemplateNotFound(f"There is no template {template_key}.")


def locale_chain(locale: str | None, default_locale: str) -> list[str]:
    """The locale, its language, the account's default, its language, `en`; each once."""
    wanted = [
        name for given in (locale, default_locale) if given for name in (given, given.partition("-")[0])
    ]
    return list(dict.fromkeys([*wanted, FALLBACK_LOCALE]))


@cache
def platform_templates() -> dict[str, dict[str, TemplateSource]]:
    """Every template by its key and locale, read once per process."""
    folder = settings.BASE_DIR / "templates" / "emails"
    return {
        key.name: {locale.name: _read_template(locale) for locale in _subfolders(key)}
        for key in _subfolders(folder)
    }


def _subfolders(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.is_dir())


def _read_template(folder: Path) -> TemplateSource:
    return TemplateSource(
        locale=folder.name,
        subject=(folder / "subject.txt").read_text("utf-8"),
        body=(folder / "body.mjml").read_text("utf-8"),
        preheader=_optional_text(folder / "preheader.txt"),
        text=_optional_text(folder / "body.txt"),
    )


def _optional_text(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None

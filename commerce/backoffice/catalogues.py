"""Collects the texts of the back office, and keeps a catalogue of translations for each language (docs/backoffice.md).

`make messages` runs this with Babel, so GNU gettext isn't needed.
"""

import re
from collections.abc import Iterator
from gettext import NullTranslations, translation
from io import BytesIO
from pathlib import Path
from typing import Any

import django
import unfold
from babel.messages import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

from commerce.errors import all_refusals

from .names import list_names

FOLDER = Path(settings.LOCALE_PATHS[0])
LANGUAGES = [language for language, _name in settings.LANGUAGES if language != "en"]

# A message, with its plural if it has one, and where it comes from.
Message = str | tuple[str, ...]
Found = tuple[Message, str]

_PACKAGES = ("accounts", "carts", "checkouts", "commerce", "config", "discounts", "emails", "shipping")
_TEMPLATES = (
    "templates/backoffice",
    "templates/unfold",
    "commerce/backoffice/templates",
    "discounts/templates",
    "templates/403_csrf.html",
)
# Functions whose argument of this number is a message. The constructors of refusals are added to them.
_KEYWORDS: dict[str, Any] = {
    **DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext_lazy": (1, 2),
    "LogSentence": (1,),
    "Wording": (1,),
    "mark": (1,),
    "refuse": (2,),
    "of": (3,),
    "FieldError": (3,),
    "InvalidValue": (2,),
}
# Of Django's texts, those whose translations use other words than ours beside them: "Sichern" beside "Speichern".
_OVERRIDDEN = ("Save and add another", "Save and continue editing", "Save and view", "Save as new", "History")
# What only the APIs refuse.
_API = re.compile(r"\.api\b|^commerce\.rest|^config|^emails\.renderer\b")
_IGNORED = {"migrations", "api", "rest", "front", "management", "renderer", "shop_import"}
_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)


def collect() -> Catalog:
    """Return all messages, without translations."""
    catalog = Catalog(charset="utf-8")
    for message, place in [*_read_own_code(), *_read_own_templates(), *list_names(), *_list_titles()]:
        catalog.add(message, locations=[(place, 1)])
    for message in _OVERRIDDEN:
        catalog.add(message, locations=[("django", 1)])
    # Django has translations of most texts of its admin, which Unfold shares. Only the others are ours to translate.
    known = [_load_django(language) for language in LANGUAGES]
    for message, place in _read_unfold():
        msgid = message if isinstance(message, str) else message[0]
        if not all(_has(each, msgid) for each in known):
            catalog.add(message, locations=[(place, 1)])
    return catalog


def update(language: str) -> Catalog:
    """Return the language's catalogue with all messages: new ones are empty, and those no longer used are gone."""
    catalog = read(language)
    catalog.update(collect(), no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    return catalog


def read(language: str) -> Catalog:
    with find_source(language).open("rb") as source:
        return read_po(source, locale=language)


def write(language: str, catalog: Catalog) -> None:
    find_source(language).write_bytes(render_source(catalog))
    find_compiled(language).write_bytes(compile_catalog(catalog))


def render_source(catalog: Catalog) -> bytes:
    target = BytesIO()
    write_po(target, catalog, width=110, sort_output=True, ignore_obsolete=True, include_lineno=False)
    return target.getvalue()


def compile_catalog(catalog: Catalog) -> bytes:
    target = BytesIO()
    write_mo(target, catalog)
    return target.getvalue()


def list_missing(catalog: Catalog) -> list[object]:
    """Return the texts that have no translation, or lack one of the language's plurals."""
    return [each.id for each in catalog if each.id and not all(_list_strings(each))]


def _list_strings(message: Any) -> list[str]:
    return list(message.string) if isinstance(message.string, list | tuple) else [message.string]


def find_source(language: str) -> Path:
    return FOLDER / language / "LC_MESSAGES" / "django.po"


def find_compiled(language: str) -> Path:
    return find_source(language).with_suffix(".mo")


def _read_own_code() -> Iterator[Found]:
    refusals: dict[str, Any] = {refusal.__name__: (1,) for refusal in all_refusals()}
    for package in _PACKAGES:
        for path in sorted((settings.BASE_DIR / package).rglob("*.py")):
            if not _IGNORED & set(path.parts):
                yield from _extract(path.read_text(), _name(path), refusals | _KEYWORDS)


def _read_own_templates() -> Iterator[Found]:
    for place in _TEMPLATES:
        yield from _read_templates(settings.BASE_DIR / place)


def _read_unfold() -> Iterator[Found]:
    folder = Path(unfold.__file__).parent
    yield from _read_templates(folder / "templates")
    for path in sorted(folder.rglob("*.py")):
        if "contrib" not in path.parts:
            yield from _extract(path.read_text(), "unfold", _KEYWORDS)


def _read_templates(path: Path) -> Iterator[Found]:
    files = [path] if path.is_file() else sorted([*path.rglob("*.html"), *path.rglob("*.txt")])
    for file in files:
        place = _name(file) if file.is_relative_to(settings.BASE_DIR / "templates") else path.parts[-2]
        # Django makes something like Python of a template. Indentation means nothing in it.
        code = _INDENTATION.sub("", templatize(file.read_text(), origin=str(file)))
        yield from _extract(code, place, DEFAULT_KEYWORDS)


def _extract(code: str, place: str, keywords: dict[str, Any]) -> Iterator[Found]:
    source = BytesIO(code.encode())
    for _line, message, _comments, _context in extract("python", source, keywords=keywords):
        # Calls with too few arguments have no message.
        texts = message if isinstance(message, tuple) else (message,)
        if all(text.strip() for text in texts):
            yield message, place


def _list_titles() -> Iterator[Found]:
    for refusal in all_refusals():
        if not _API.search(refusal.__module__):
            yield refusal.title, refusal.__name__


def _name(path: Path) -> str:
    return str(path.relative_to(settings.BASE_DIR))


def _load_django(language: str) -> NullTranslations:
    """Return what Django and its apps bring along, without our own catalogue."""
    root = Path(django.__file__).parent
    found = NullTranslations()
    for folder in [root / "conf" / "locale", *sorted((root / "contrib").glob("*/locale"))]:
        found.add_fallback(translation("django", str(folder), languages=[language], fallback=True))
    return found


def _has(known: NullTranslations, msgid: str) -> bool:
    # Texts that are the same in both languages count as missing, so the catalogue has them too.
    return known.gettext(msgid) != msgid

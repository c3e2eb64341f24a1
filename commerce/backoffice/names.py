"""Names of apps, models, fields and choices in the reader's language.

Models don't mark their names for translation: explicit names would be part of the migrations. Instead, the names that
Django has derived are replaced when the server starts, and `manage.py messages` collects them.
"""

from collections.abc import Iterator
from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.contrib import admin
from django.db.models import Choices, Field, Model
from django.utils.choices import CallableChoiceIterator
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy, override

_UNITS = (" cents", " bp", " grams")
_NEVER_SHOWN = {"account", "version"}
# What columns are called in the database isn't always what people call them.
_WORDS = {
    "address1": "address line 1",
    "api": "API",
    "bogo": "buy X get Y",
    "cod": "cash on delivery",
    "config": "settings",
    "ctx": "variables",
    "fulfillment": "fulfilment",
    "html": "HTML",
    "id": "ID",
    "sku": "SKU",
    "timezone": "time zone",
    "url": "URL",
    "utm": "UTM",
    "vat": "VAT",
    "voucher": "gift card",
    "vouchers": "gift cards",
    "zip": "postcode",
}
_NAMES = {
    "customer ids": "customers",
    "email from": "sender",
    "is cod compatible": "can be paid on delivery",
    "is cod supported": "takes cash on delivery",
    "market ids": "markets",
    "product ids": "products",
    "segment ids": "segments",
    "to email": "to",
    "variant ids": "variants",
    "zip patterns": "postcodes",
}


def translate_names() -> None:
    """Replace the names of all models by texts that are translated when they are shown."""
    for app in filter(_is_own, apps.get_app_configs()):
        app.verbose_name = gettext_lazy(str(app.verbose_name))
        for model in app.get_models():
            _translate_model(model)


def _translate_model(model: type[Model]) -> None:
    options: Any = model._meta
    # Names that already are translated, such as those that come from Django's own models, stay as they are.
    if not isinstance(options.verbose_name, Promise):
        options.verbose_name = gettext_lazy(spell(options.verbose_name))
        options.verbose_name_plural = gettext_lazy(spell(str(options.verbose_name_plural)))
    for field in options.local_fields:
        _translate_field(field)


def _translate_field(field: Any) -> None:
    if not isinstance(field.verbose_name, Promise):
        field.verbose_name = gettext_lazy(spell(field.verbose_name))
    if field.help_text and not isinstance(field.help_text, Promise):
        field.help_text = gettext_lazy(field.help_text)
    # Choices from a function, which is part of the migrations, are translated by that function.
    is_function = isinstance(field.choices, CallableChoiceIterator)
    if field.choices and not is_function and _are_words(field):
        field.choices = [(value, gettext_lazy(str(label))) for value, label in field.flatchoices]


def spell(name: str) -> str:
    """Return a name that Django has derived from a column as people write it: `SKU` for `sku`."""
    if name in _NAMES:
        return _NAMES[name]
    words = name.replace("compare at", "compare-at").removeprefix("is ").split()
    return " ".join(_WORDS.get(word, word) for word in words)


def list_names() -> Iterator[tuple[str, str]]:
    """Yield each name that the pages show, in English, and where it comes from."""
    pages = admin.site._registry  # noqa: SLF001  Django's own templates read it
    shown = {*pages, *(inline.model for page in pages.values() for inline in page.inlines)}
    with override("en"):
        for app in filter(_is_own, apps.get_app_configs()):
            if any(model in pages for model in app.get_models()):
                yield str(app.verbose_name), app.label
        for model in sorted(shown, key=lambda model: model._meta.label):
            if _is_own(model._meta.app_config):
                yield from _list_model(model)


def _is_own(app: AppConfig) -> bool:
    return str(app.path).startswith(str(settings.BASE_DIR)) and "site-packages" not in str(app.path)


def _list_model(model: type[Model]) -> Iterator[tuple[str, str]]:
    place = model._meta.label
    yield str(model._meta.verbose_name), place
    yield str(model._meta.verbose_name_plural), place
    for choices in vars(model).values():
        if isinstance(choices, type) and issubclass(choices, Choices):
            yield from ((str(member.label), place) for member in choices)
    for field in model._meta.local_fields:
        # Fields that come from Django's own models have its translations.
        has_own_name = not isinstance(field._verbose_name, Promise)  # type: ignore[attr-defined]  # noqa: SLF001
        if has_own_name and field.name not in _NEVER_SHOWN:
            yield from _list_field(field)


def _list_field(field: Any) -> Iterator[tuple[str, str]]:
    place = f"{field.model._meta.label}.{field.name}"
    yield str(field.verbose_name), place
    if field.name.endswith(("_cents", "_bp", "_grams")):
        yield title_without_unit(field), place
    if field.help_text:
        yield str(field.help_text), place
    if field.choices and _are_words(field):
        for _value, label in field.flatchoices:
            yield str(label), place


def list_labels(choices: type[Choices]) -> list[tuple[Any, Any]]:
    """Return values and labels for an input, translated when they are shown. A field must have these choices as well."""
    return [(member.value, gettext_lazy(str(member.label))) for member in choices]


def title_without_unit(field: Field) -> str:
    """Return what a column is called in English, without the unit that is stored: `Price` for `price_cents`."""
    with override("en"):
        name = str(field.verbose_name)
    for unit in _UNITS:
        name = name.removesuffix(unit)
    return capfirst(name)


def _are_words(field: Any) -> bool:
    # Such as the types of events, which are names of the API.
    return not any("." in str(value) for value, _label in field.flatchoices)

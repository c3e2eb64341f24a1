"""docs/emails.md lists what templates may use, and shows what each of the platform's looks like."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings

from emails.own_templates.samples import load_sample_ctx
from emails.renderer import liquid_templates
from emails.template_sources import load_platform_templates

DOCUMENT = settings.BASE_DIR / "docs" / "emails.md"
FILTER_ROW = re.compile(r"^\| `(\w+)` \| `\{\{", re.MULTILINE)
PICTURE = re.compile(r"\]\((emails/[^)]+)\)")


@pytest.fixture(scope="module")
def document():
    return DOCUMENT.read_text()


def test_filters_of_our_own_are_those_of_the_document(document):
    registered = liquid_templates._HTML.filters.items()
    own = {name for name, function in registered if function.__module__ == "emails.renderer.filters"}

    assert set(FILTER_ROW.findall(document)) == own


@pytest.mark.parametrize("template_key", sorted(load_platform_templates()))
def test_variables_of_a_sample_are_in_the_document(document, template_key):
    _, _, section = document.partition("## Variables")

    missing = [name for name in names_of(load_sample_ctx(template_key)) if f"`{name}`" not in section]

    assert missing == []


def test_every_template_is_shown_in_every_locale(document):
    shown = set(PICTURE.findall(document))

    wanted = {
        f"emails/{key}.{locale}.jpg"
        for key, locales in load_platform_templates().items()
        for locale in locales
    }
    assert wanted <= shown
    assert {name for name in shown if not (DOCUMENT.parent / name).is_file()} == set()


def names_of(sample: dict[str, Any]) -> Iterator[str]:
    """Yield the first two names of every variable together, and each name below them alone."""
    for root, variables in sample.items():
        for name, value in variables.items():
            yield f"{root}.{name}"
            yield from keys_below(value)


def keys_below(value: Any) -> set[str]:
    match value:
        case dict():
            return {key for name, part in value.items() for key in (name, *keys_below(part))}
        case list():
            return {key for part in value for key in keys_below(part)}
    return set()

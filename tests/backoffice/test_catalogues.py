"""The catalogues of translations are complete: no text of the back office is missing, wrong or out of date."""

import re

import pytest
from django.conf import settings

from commerce.backoffice.catalogues import (
    LANGUAGES,
    collect,
    compile_catalog,
    find_compiled,
    find_source,
    list_missing,
    read,
    render_source,
    update,
)

_PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%%|\{\w*\}|%n")


@pytest.fixture(params=LANGUAGES)
def language(request):
    return request.param


def placeholders(text):
    return sorted(_PLACEHOLDER.findall(text))


def forms_of(message):
    return [message.string] if isinstance(message.string, str) else list(message.string)


def test_languages_are_those_of_the_settings():
    assert LANGUAGES == ["de", "cs"]
    assert [language for language, _name in settings.LANGUAGES] == ["en", "de", "cs"]


def test_catalogue_has_all_texts_and_no_others(language):
    wanted = {message.id for message in collect()}
    stored = read(language)

    assert {message.id for message in stored} == wanted
    assert list(stored.obsolete) == []
    assert find_source(language).read_bytes() == render_source(update(language)), "run `make messages`"


def test_every_text_is_translated(language):
    stored = read(language)

    assert list_missing(stored) == []
    assert [message.id for message in stored if message.id and message.fuzzy] == []


def test_translations_have_the_placeholders_of_the_text(language):
    wrong = []
    for message in read(language):
        if not message.id:
            continue
        ids = [message.id] if isinstance(message.id, str) else list(message.id)
        for number, form in enumerate(forms_of(message)):
            # The form for one thing may name it without the number, as the English one does.
            allowed = [placeholders(ids[-1])] + ([placeholders(ids[0])] if number == 0 else [])
            if placeholders(form) not in allowed:
                wrong.append((message.id, form))

    assert wrong == []


def test_translations_have_the_line_breaks_of_the_text(language):
    assert [
        message.id
        for message in read(language)
        if isinstance(message.id, str) and message.id and message.id.count("\n") != message.string.count("\n")
    ] == []


@pytest.mark.parametrize(("language", "plurals"), [("de", 2), ("cs", 4)])
def test_texts_have_all_plurals_of_the_language(language, plurals):
    counts = {len(forms_of(message)) for message in read(language) if isinstance(message.id, tuple | list)}

    assert counts == {plurals}


def test_compiled_catalogue_is_that_of_the_source(language):
    assert find_compiled(language).read_bytes() == compile_catalog(read(language)), "run `make messages`"


def test_glossary_is_kept_at_the_top(language):
    first = find_source(language).read_text().split("msgid", 1)[0]

    assert "Words used throughout:" in first
    assert "gift card" in first

"""Every template of the platform, in every locale: the same message in other words."""

import re

import pytest
from django.conf import settings

TEMPLATES = settings.BASE_DIR / "templates" / "emails"
KEYS = sorted(folder.name for folder in TEMPLATES.iterdir())
PARTS = ("body.mjml", "body.txt", "preheader.txt", "subject.txt")

_MARKUP = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<[^>]*>", re.DOTALL)


@pytest.mark.parametrize("key", KEYS)
def test_template_is_whole_in_every_locale(key):
    files = {path.relative_to(TEMPLATES / key).as_posix() for path in (TEMPLATES / key).glob("*/*")}

    assert files == {f"{locale}/{part}" for locale in ("cs", "de", "en") for part in PARTS}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("locale", ["cs", "de"])
@pytest.mark.parametrize("part", PARTS)
def test_translations_differ_in_words_only(key, locale, part):
    english, translated = ((TEMPLATES / key / name / part).read_text() for name in ("en", locale))

    expected = [tag.replace('lang="en"', f'lang="{locale}"') for tag in _MARKUP.findall(english)]
    assert _MARKUP.findall(translated) == expected


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("locale", ["cs", "de"])
def test_no_english_is_left(key, locale):
    english, translated = (
        set(filter(None, map(str.strip, _MARKUP.split((TEMPLATES / key / name / "body.txt").read_text()))))
        for name in ("en", locale)
    )

    words = {text for text in english & translated if re.search(r"[A-Za-z]{2}", text)}
    assert words == set()

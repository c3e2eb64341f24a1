"""Every template of the platform, in every locale: the same message in other words."""

import re
import tomllib

import pytest

from accounts.models import Account
from commerce.mail import email_folders
from emails.own_templates.samples import load_sample_ctx
from emails.renderer_client import render
from emails.template_sources import load_platform_templates, prepare_rendering

FOLDERS = email_folders()
PARTS = ("body", "text", "preheader", "subject")

# Terms of banks, which are the same in all languages.
SAME = {"IBAN:", "BIC:"}
_MARKUP = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<[^>]*>", re.DOTALL)


@pytest.mark.parametrize("key", FOLDERS)
def test_template_is_whole_in_every_locale(key):
    locales = ("cs", "de", "en")
    files = {path.name for path in FOLDERS[key].iterdir()} - {"variables.liquid"}
    texts = [tomllib.loads((FOLDERS[key] / f"{locale}.toml").read_text()) for locale in locales]

    assert files == {"body.mjml", "body.txt", "sample.json", *(f"{locale}.toml" for locale in locales)}
    assert [set(names) for names in texts] == [set(texts[-1])] * len(locales)
    assert all(text for names in texts for text in names.values())


@pytest.mark.parametrize("key", FOLDERS)
@pytest.mark.parametrize("locale", ["cs", "de", "en"])
def test_lines_are_short_enough_for_mail(renderer_url, key, locale):
    account = Account(name="Hats", default_timezone="UTC", default_locale="en")
    source = load_platform_templates()[key][locale]

    rendered = render(
        url=renderer_url, message=prepare_rendering(source, load_sample_ctx(key), account=account)
    )

    # RFC 5322, 2.1.1. Longer ones would make Django encode the part.
    assert max(len(line.encode()) for line in (rendered.html + rendered.text).splitlines()) <= 998


@pytest.mark.parametrize("key", FOLDERS)
def test_every_text_is_used(key):
    used = (FOLDERS[key] / "body.mjml").read_text() + (FOLDERS[key] / "body.txt").read_text()
    texts = tomllib.loads((FOLDERS[key] / "en.toml").read_text())

    of_layout = {"subject", "preheader", "title", "reason"}
    assert {name for name in texts if f"${{{name}}}" not in used} == of_layout


@pytest.mark.parametrize("key", FOLDERS)
@pytest.mark.parametrize("locale", ["cs", "de"])
@pytest.mark.parametrize("part", PARTS)
def test_translations_differ_in_words_only(key, locale, part):
    english, translated = (getattr(load_platform_templates()[key][name], part) for name in ("en", locale))

    expected = [tag.replace('lang="en"', f'lang="{locale}"') for tag in _MARKUP.findall(english)]
    assert _MARKUP.findall(translated) == expected


@pytest.mark.parametrize("key", FOLDERS)
@pytest.mark.parametrize("locale", ["cs", "de"])
def test_no_english_is_left(key, locale):
    english, translated = (
        set(filter(None, map(str.strip, _MARKUP.split(load_platform_templates()[key][name].text))))
        for name in ("en", locale)
    )

    words = {text for text in english & translated if re.search(r"[A-Za-z]{2}", text)}
    assert words - SAME == set()

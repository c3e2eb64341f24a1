from dataclasses import replace

import pytest

from accounts.models import Account
from emails.errors import TemplateNotFound
from emails.template_sources import find_template, list_locales, prepare_rendering


@pytest.mark.parametrize(
    ("locale", "default_locale", "chain"),
    [
        ("de-AT", "cs-CZ", ["de-AT", "de", "cs-CZ", "cs", "en"]),
        ("de", "cs-CZ", ["de", "cs-CZ", "cs", "en"]),
        ("de-AT", "de-DE", ["de-AT", "de", "de-DE", "en"]),
        ("en-US", "en-US", ["en-US", "en"]),
        (None, "de-DE", ["de-DE", "de", "en"]),
    ],
)
def test_locale_chain_goes_from_near_to_far(locale, default_locale, chain):
    assert list_locales(locale, default_locale) == chain


@pytest.mark.parametrize(
    ("locale", "default_locale", "found"),
    [
        ("de-AT", "en-US", "de"),
        ("fr-FR", "cs-CZ", "cs"),
        ("fr-FR", "it-IT", "en"),
        (None, "de-DE", "de"),
        ("..", "en-US", "en"),
    ],
)
def test_template_is_found_in_the_nearest_locale(locale, default_locale, found):
    source = find_template("order.confirmation", locale=locale, default_locale=default_locale)

    assert source.locale == found
    assert "<mjml" in source.body
    assert source.subject
    assert source.preheader
    assert source.text


@pytest.mark.parametrize("part", ["body", "subject", "preheader", "text"])
def test_renderer_trusts_only_the_platforms_templates(part):
    account = Account(name="Hats", default_locale="en-US", default_timezone="UTC")
    platforms = find_template("order.confirmation", locale="en", default_locale="en-US")
    own = replace(platforms, **{part: f"{getattr(platforms, part)} "})

    trusted = [prepare_rendering(source, {}, account=account).is_trusted for source in (platforms, own)]

    assert trusted == [True, False]


@pytest.mark.parametrize("template_key", ["unheard.of", "", "..", "order.confirmation/en"])
def test_template_of_an_unknown_key_is_not_found(template_key):
    with pytest.raises(TemplateNotFound) as refused:
        find_template(template_key, locale="en", default_locale="en-US")

    assert refused.value.status == 404
    assert refused.value.code == "template_not_found"

"""Every template of the platform renders with its sample in every locale."""

import pytest

from accounts.models import Account
from emails.own_templates.rendering import render_draft
from emails.own_templates.samples import load_sample_ctx
from emails.template_sources import load_platform_templates

PLACES = [
    (key, locale) for key, by_locale in sorted(load_platform_templates().items()) for locale in by_locale
]


@pytest.mark.parametrize(("key", "locale"), PLACES)
def test_template_renders_with_its_sample_without_warnings(renderer, key, locale):
    account = Account(name="Hats & Co", default_timezone="Europe/Berlin")

    rendered = render_draft(
        account=account, source=load_platform_templates()[key][locale], ctx=load_sample_ctx(key)
    )

    assert rendered.warnings == ()
    assert rendered.subject
    assert "Hats &amp; Co" in rendered.html
    assert "{{" not in rendered.html + rendered.text

"""Every template of the platform renders with its sample in every locale."""

import pytest

from accounts.models import Account
from emails.own_templates.rendering import render_draft
from emails.own_templates.samples import sample_ctx
from emails.template_sources import platform_templates

PLACES = [(key, locale) for key, by_locale in sorted(platform_templates().items()) for locale in by_locale]


@pytest.mark.parametrize(("key", "locale"), PLACES)
def test_template_renders_with_its_sample_without_warnings(renderer, key, locale):
    account = Account(name="Hats & Co", default_timezone="Europe/Berlin")

    rendered = render_draft(account=account, source=platform_templates()[key][locale], ctx=sample_ctx(key))

    assert rendered.warnings == ()
    assert rendered.subject
    assert "Hats &amp; Co" in rendered.html
    assert "{{" not in rendered.html + rendered.text

"""The product's own emails in a real browser: axe finds nothing, on wide and narrow screens.

The back office shows emails in frames without scripts, where axe can't look.
"""

from collections.abc import Iterator

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, sync_playwright

from accounts.models import Account
from emails.own_templates.samples import load_sample_ctx
from emails.renderer.compiled_templates import render_compiled
from emails.template_sources import COMPILED_ONCE, load_platform_templates, prepare_rendering
from tests.browsers import launch

# An email has no parts to skip, as a page has.
_OPTIONS = {"rules": {"landmark-one-main": {"enabled": False}, "region": {"enabled": False}}}
_RUN_AXE = """async (options) => (await axe.run(options)).violations
    .flatMap((violation) => violation.nodes.map(
        (node) => `${violation.impact} ${violation.id}: ${node.target} ${node.html.slice(0, 200)}`
    ))"""
# Parts that the sample's order doesn't have.
_OTHER_WAYS = ({}, {"payment_method": "bank_transfer"}, {"payment_method": "cod"}, {"pickup_point": None})


@pytest.fixture(scope="module")
def browser_page() -> Iterator[Page]:
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright runs an event loop in this thread, which Django would mistake for asynchronous code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = launch(playwright)
        yield browser.new_page()
        browser.close()


def render(key, locale, ctx):
    account = Account(name="Hats & Co", default_timezone="UTC", default_locale="en")
    source = load_platform_templates()[key][locale]
    request = prepare_rendering(source, ctx, account=account)
    variables = {"locale": request.locale, **request.ctx}
    return render_compiled(request.body_source, variables, preheader="Thank you", field="body_source")


@pytest.mark.parametrize("key", sorted(COMPILED_ONCE))
@pytest.mark.parametrize("locale", ["cs", "de", "en"])
def test_axe_finds_nothing(browser_page, key, locale):
    sample = load_sample_ctx(key)
    found = []
    for changes in _OTHER_WAYS if "order" in sample else _OTHER_WAYS[:1]:
        html = render(key, locale, sample | ({"order": sample["order"] | changes} if changes else {}))
        browser_page.set_content(html)
        browser_page.evaluate(AXE_SCRIPT)
        for width in (800, 400):
            browser_page.set_viewport_size({"width": width, "height": 900})
            found += browser_page.evaluate(_RUN_AXE, _OPTIONS)

    assert found == []

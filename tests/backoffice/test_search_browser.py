"""The search box and the filters in a real browser, by keyboard alone."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect, sync_playwright

from tests import factories
from tests.backoffice.clients import make_staff
from tests.browsers import launch

_TIMEOUT_MS = 30_000


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, live_server, shop) -> Iterator[Page]:
    """A page of an owner who is logged in. It fails the test on script errors."""
    # Playwright runs an event loop in this thread, which Django would mistake for asynchronous code.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    session = make_staff(shop).browser.cookies[settings.SESSION_COOKIE_NAME].value
    with sync_playwright() as playwright:
        browser = launch(playwright)
        context = browser.new_context(base_url=live_server.url)
        cookie = {"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}
        context.add_cookies([cookie])
        page = context.new_page()
        page.set_default_timeout(_TIMEOUT_MS)
        expect.set_options(timeout=_TIMEOUT_MS)
        mistakes: list[str] = []
        page.on("pageerror", lambda error: mistakes.append(str(error)))
        yield page
        browser.close()
    assert mistakes == []


@pytest.mark.django_db(transaction=True)
def test_customer_is_found_and_opened_by_keyboard(shop, page):
    for name in ("queen", "quinn"):
        factories.make_customer(shop, email=f"{name}@example.com")
    page.goto("/backoffice/catalog/product/")

    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("qu")
    expect(page.get_by_role("option")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", selected=True)).to_contain_text("queen@example.com")
    page.keyboard.press("Enter")

    expect(page.locator("#id_email")).to_have_value("queen@example.com")


@pytest.mark.django_db(transaction=True)
def test_escape_closes_the_search(page):
    page.goto("/backoffice/")
    page.keyboard.press("Control+k")
    page.keyboard.type("qu")

    page.keyboard.press("Escape")

    expect(page.locator("#search-dialog")).to_be_hidden()


@pytest.mark.django_db(transaction=True)
def test_filters_open_by_keyboard_on_a_narrow_screen(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/backoffice/orders/order/")

    page.get_by_role("button", name="Filters").press("Enter")

    expect(page.get_by_role("link", name="To fulfil", exact=True)).to_be_visible()

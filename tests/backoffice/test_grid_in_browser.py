"""The grid in a real browser: keyboard, marks, a table pasted from a spreadsheet, and the preview."""

import re

import pytest
from django.conf import settings
from playwright.sync_api import expect

from commerce.catalog.models import VariantPricing
from tests import factories
from tests.backoffice.clients import make_staff
from tests.demo.test_browser import page  # noqa: F401  a fixture

pytestmark = pytest.mark.django_db(transaction=True)

PASTE = """(input, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text", text);
    input.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
}"""


@pytest.fixture
def grid(shop, live_server, page):  # noqa: F811  the fixture
    """A browser in which a member of the shop is logged in."""
    session = make_staff(shop).browser.cookies[settings.SESSION_COOKIE_NAME].value
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}
    page.context.add_cookies([cookie])
    return page


def test_typed_prices_are_not_lost_without_a_question(shop, grid):
    variant = factories.make_variant(shop, price_cents=1000)
    questions = []

    def stay(dialog):
        questions.append(dialog.type)
        dialog.dismiss()

    grid.on("dialog", stay)
    grid.goto("/backoffice/catalog/variant/prices/")
    price = grid.get_by_label(f"{variant.sku}, {shop.market.name}")
    price.fill("25")
    grid.get_by_role("link", name=variant.sku).click()
    expect(price).to_have_value("25")
    price.press("Escape")
    grid.get_by_role("link", name=variant.sku).click()

    expect(grid).to_have_url(re.compile(f"/catalog/variant/{variant.pk}/change/$"))
    assert questions == ["beforeunload"]


def test_prices_are_typed_pasted_reviewed_and_saved(shop, grid):
    first, second, third = (factories.make_variant(shop, price_cents=1000 * n) for n in (1, 2, 3))

    def cell(variant):
        return grid.get_by_label(f"{variant.sku}, {shop.market.name}")

    count = grid.locator("[data-grid-count]")
    grid.goto("/backoffice/catalog/variant/prices/")
    expect(count).to_have_text("Nothing changed yet")
    # The latest variant is in the first row.
    cell(third).fill("25")
    expect(count).to_have_text("1 value changed")
    cell(third).press("Enter")
    expect(cell(second)).to_be_focused()
    cell(second).press("ArrowUp")
    expect(cell(third)).to_be_focused()
    cell(third).press("Escape")
    expect(cell(third)).to_have_value("30.00")
    expect(count).to_have_text("Nothing changed yet")
    cell(second).evaluate(PASTE, "17,50 €\n8,00 €\n")
    expect(count).to_have_text("2 values changed")
    expect(cell(first)).to_have_attribute("data-changed", "")

    grid.get_by_role("button", name="Review changes").click()
    expect(grid.get_by_text("2 values will change")).to_be_visible()
    grid.get_by_role("button", name="Back to editing").click()
    expect(count).to_have_text("2 values changed")
    grid.get_by_role("button", name="Review changes").click()
    grid.get_by_role("button", name="Save").click()
    expect(grid.get_by_text("2 values were changed.")).to_be_visible()

    with shop.scope():
        prices = dict(VariantPricing.objects.values_list("variant_id", "price_cents"))
    assert prices == {first.pk: 800, second.pk: 1750, third.pk: 3000}

"""Pick lists in a real browser: by keyboard, with a screen reader, and without JavaScript."""

import re

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from playwright.sync_api import expect

from discounts.models import Discount
from tests import factories
from tests.backoffice.clients import make_staff
from tests.backoffice.test_keyboard import tab_to
from tests.backoffice.visitor import Visitor
from tests.demo.test_browser import page  # noqa: F401  a fixture

pytestmark = pytest.mark.django_db(transaction=True)

ADD = "/backoffice/discounts/discount/add/"


@pytest.fixture
def visitor(shop, live_server, page):  # noqa: F811  the fixture
    page.add_init_script(AXE_SCRIPT)
    visitor = Visitor(page, live_server.url)
    visitor.use_session(make_staff(shop).browser)
    return visitor


def saved_discount(shop, page):  # noqa: F811  the fixture
    page.locator("[name=title]").fill("Welcome")
    page.locator("[name=type]").select_option("automatic_discount")
    page.locator("[name=value_mode]").select_option("percentage")
    page.locator("[name=value_amount]").fill("10")
    page.locator("[name=_save]").click()
    page.wait_for_url(re.compile(r"/discounts/discount/$"))
    with shop.scope():
        return Discount.objects.get()


def type_into_search(page, text):  # noqa: F811  the fixture
    # It gets the focus a moment after it has opened.
    expect(page.get_by_role("searchbox", name="Products")).to_be_focused()
    page.keyboard.type(text)


def test_rows_are_searched_added_and_removed_by_keyboard(shop, visitor, page):  # noqa: F811
    mug = factories.make_product(shop, title="Mug", handle="mug")
    factories.make_product(shop, title="Mugshot", handle="mugshot")
    page.goto(ADD)
    box = page.get_by_role("combobox", name="Products")
    expect(box).to_have_text("Search and add")
    picked = page.get_by_role("group", name="Products", exact=True)

    for title in ("Mugshot (mugshot)", "Mug (mug)"):
        tab_to(page, box)
        page.keyboard.press("Enter")
        type_into_search(page, "mug")
        option = page.get_by_role("option", name=title, exact=True)
        expect(option).to_be_visible()
        for _ in range(3):
            if "select2-results__option--highlighted" not in option.get_attribute("class"):
                page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(picked.get_by_role("checkbox", name=title, exact=True)).to_be_checked()
        expect(page.locator("[data-pick=product_ids] [role=status]")).to_have_text(f"{title} was added.")
        expect(box).to_be_focused()
    shot = picked.get_by_role("checkbox", name="Mugshot (mugshot)")
    page.evaluate("document.body.tabIndex = -1; document.body.focus()")
    tab_to(page, shot)
    page.keyboard.press("Space")
    expect(shot).not_to_be_checked()

    assert saved_discount(shop, page).product_ids == [mug.pk]


def test_same_row_is_added_once_and_a_long_list_is_saved(shop, visitor, page):  # noqa: F811
    factories.make_product(shop, title="Mug", handle="mug")
    page.goto(ADD)
    for _ in range(2):
        page.get_by_role("combobox", name="Products").click()
        type_into_search(page, "mug")
        page.get_by_role("option", name="Mug (mug)").click()
    expect(page.get_by_role("checkbox", name="Mug (mug)")).to_have_count(1)
    # As many as a list may have, which are more than Django takes inputs.
    page.evaluate(
        """() => {
            const rows = document.querySelector("[data-pick=customer_ids] .pick-rows");
            for (let id = 0; id < 1000; id += 1) {
                const row = rows.querySelector("template").content.cloneNode(true);
                row.querySelector("input").value = "x";
                rows.append(row);
            }
        }"""
    )

    page.locator("[name=title]").fill("Welcome")
    page.locator("[name=_save]").click()

    expect(page.get_by_text("Select valid choices.")).to_be_attached()
    expect(page.get_by_role("checkbox", name="Mug (mug)")).to_be_checked()


def test_axe_finds_nothing_while_a_search_is_open(shop, visitor, page):  # noqa: F811
    factories.make_product(shop, title="Mug", handle="mug")
    page.goto(ADD)
    page.get_by_role("combobox", name="Products").click()
    type_into_search(page, "mug")
    expect(page.get_by_role("option", name="Mug (mug)")).to_be_visible()

    visitor.inspect("open", narrow=True)

    assert visitor.mistakes == []


def test_unchanged_lists_raise_no_question(shop, visitor, page):  # noqa: F811
    product = factories.make_product(shop, title="Mug", handle="mug")
    discount = factories.make_discount(shop, product_ids=[product.pk], applies_to="line_items")
    questions = []
    page.on("dialog", lambda dialog: (questions.append(dialog.type), dialog.accept()))
    page.goto(f"/backoffice/discounts/discount/{discount.pk}/change/")
    mug = page.get_by_role("checkbox", name="Mug (mug)")
    mug.uncheck()
    mug.check()
    page.get_by_role("link", name="Orders", exact=True).first.click()
    page.wait_for_url("**/backoffice/orders/order/")

    page.goto(f"/backoffice/discounts/discount/{discount.pk}/change/")
    mug.uncheck()
    page.get_by_role("link", name="Orders", exact=True).first.click()
    page.wait_for_url("**/backoffice/orders/order/")

    assert questions == ["beforeunload"]


def test_rows_are_chosen_without_javascript(shop, live_server, page):  # noqa: F811
    mug = factories.make_product(shop, title="Mug", handle="mug")
    cup = factories.make_product(shop, title="Cup", handle="cup")
    discount = factories.make_discount(shop, product_ids=[mug.pk], applies_to="line_items")
    session = make_staff(shop).browser.cookies[settings.SESSION_COOKIE_NAME].value
    context = page.context.browser.new_context(java_script_enabled=False, base_url=live_server.url)
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    plain = context.new_page()
    plain.goto(f"/backoffice/discounts/discount/{discount.pk}/change/")

    lists = plain.locator("[data-pick=product_ids]")
    expect(lists.locator("select")).to_be_hidden()
    lists.get_by_role("checkbox", name="Mug (mug)").uncheck()
    lists.locator("summary").click()
    lists.locator("textarea").fill("cup")
    plain.locator("[name=_save]").click()
    expect(plain.get_by_text("was changed successfully")).to_be_visible()

    with shop.scope():
        assert Discount.objects.get().product_ids == [cup.pk]

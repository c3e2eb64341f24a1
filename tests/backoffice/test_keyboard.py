"""A day's small job by keyboard alone: log in, find an order, fulfil it."""

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.operations import add_member
from commerce.orders.models import Order
from tests import factories
from tests.backoffice.clients import make_user
from tests.storefront import checkout_in

PASSWORD = "correct horse battery"
# Whether the focus can be seen: by an outline, of the element or of the box around it.
_SHOWS_FOCUS = """element => {
    for (let shown = element; shown && shown !== element.parentElement?.parentElement; shown = shown.parentElement) {
        const style = getComputedStyle(shown);
        if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 && !/, 0\\)$/.test(style.outlineColor)) {
            return true;
        }
    }
    return false;
}"""


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until this element has the focus. Each one on the way must show that it has it."""
    for _ in range(150):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.count():
            assert focused.evaluate(_SHOWS_FOCUS), focused.evaluate("element => element.outerHTML")
        if target.evaluate("element => element === document.activeElement"):
            return
    pytest.fail("Tab doesn't reach it.")


@pytest.mark.django_db(transaction=True)
def test_order_is_found_and_fulfilled(shop, page):
    user = make_user(username="ann", password=PASSWORD)
    with shop.scope():
        add_member(account_id=shop.id, user_id=user.pk, role="owner")
    variant = factories.make_variant(shop, stock=9)
    order_id = checkout_in("completed", shop, (variant, 2))["order_id"]
    keyboard = page.keyboard

    page.goto("/backoffice/login/")
    tab_to(page, page.get_by_label("Username"))
    keyboard.type("ann")
    tab_to(page, page.get_by_label("Password"))
    keyboard.type(PASSWORD)
    keyboard.press("Enter")
    expect(page.get_by_role("heading", name="How the shop is doing")).to_be_visible()

    keyboard.press("Control+k")
    keyboard.type("1001")
    expect(page.get_by_role("option", selected=True)).to_contain_text("1001")
    keyboard.press("Enter")
    fulfil = page.get_by_role("link", name="Fulfil", exact=True)
    expect(fulfil).to_be_visible()

    tab_to(page, fulfil)
    keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Fulfil", exact=True)
    expect(dialog).to_be_visible()
    expect(dialog.get_by_label("Carrier")).to_be_focused()
    keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(fulfil).to_be_focused()

    keyboard.press("Enter")
    expect(dialog.get_by_label("Carrier")).to_be_focused()
    keyboard.type("DHL")
    tab_to(page, dialog.get_by_role("button", name="Fulfil"))
    keyboard.press("Enter")
    expect(page.get_by_text("The order is fulfilled.").first).to_be_visible()

    with shop.scope():
        order = Order.objects.get(pk=order_id)
    assert (order.fulfillment_status, order.carrier) == ("fulfilled", "DHL")


@pytest.mark.django_db(transaction=True)
def test_menus_open_and_close_by_keyboard(shop, page):
    user = make_user(username="ann", password=PASSWORD)
    with shop.scope():
        add_member(account_id=shop.id, user_id=user.pk, role="owner")
    page.goto("/backoffice/login/")
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="How the shop is doing")).to_be_visible()

    tab_to(page, page.get_by_role("button", name="ann"))
    page.keyboard.press("Enter")
    log_out = page.get_by_role("button", name="Log out")
    expect(log_out).to_be_visible()
    page.keyboard.press("Escape")
    expect(log_out).to_be_hidden()
    expect(page.get_by_role("button", name="ann")).to_be_focused()
    page.keyboard.press("Enter")
    expect(log_out).to_be_visible()
    log_out.focus()
    page.keyboard.press("Escape")
    expect(log_out).to_be_hidden()
    expect(page.get_by_role("button", name="ann")).to_be_focused()

    page.set_viewport_size({"width": 400, "height": 800})
    menu = page.locator("#main").get_by_role("button", name="Menu")
    tab_to(page, menu)
    page.keyboard.press("Space")
    expect(page.get_by_role("link", name="Orders", exact=True).first).to_be_visible()

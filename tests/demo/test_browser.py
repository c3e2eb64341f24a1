"""The demo page in a real browser: one sale by test card, with the mistakes that visitors make."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from commerce.orders.models import Order
from commerce.outbox.worker import run_due
from tests import factories
from tests.browsers import launch
from tests.emails.conftest import mail_dir, renderer  # noqa: F401  fixtures

# Generous, as other processes may keep the machine busy.
_TIMEOUT_MS = 60_000


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, live_server) -> Iterator[Page]:
    """A page that fails the test on script errors, or on requests to other servers."""
    # Playwright runs an event loop in this thread, which Django would mistake for asynchronous code.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(base_url=live_server.url)
        page.set_default_timeout(_TIMEOUT_MS)
        expect.set_options(timeout=_TIMEOUT_MS)
        mistakes: list[str] = []
        page.on("pageerror", lambda error: mistakes.append(str(error)))
        page.on("request", lambda request: mistakes.append(request.url) if _leaves(request.url) else None)
        page.on(
            "console", lambda line: mistakes.append(line.text) if "Content Security" in line.text else None
        )
        yield page
        browser.close()
    assert mistakes == []


def _leaves(url: str) -> bool:
    return not url.startswith(("http://localhost:", "http://127.0.0.1:", "data:"))


@pytest.fixture
def demo_shop(shop, open_demo, live_server, settings):
    """A shop with a notebook in two colours, a pickup point, a discount code and the test card."""
    settings.BASE_URL = live_server.url
    notebook = factories.make_product(shop, title="Notebook")
    factories.make_variant(shop, product=notebook, title="Blue", price_cents=1190)
    factories.make_variant(shop, product=notebook, title="Red", price_cents=1290)
    method = factories.make_method(shop, name="Locker", carrier="packeta", requires_pickup_point=True)
    factories.make_rate(shop, price_cents=290, method=method)
    factories.make_pickup_point(name="Kiosk", zip="10115", normalised_zip="10115")
    factories.make_discount(shop, type="discount_code", code="TEN", value_amount=1000)
    assert (
        shop.admin.put("settings.json", {"settings": {"commerce.payments.test_card": True}}).status_code
        == 200
    )
    open_demo(shop)
    return shop


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("renderer", "mail_dir")
def test_sale_by_test_card_ends_with_one_order_and_its_email(demo_shop, page):
    page.goto("/demo/")
    _fill_the_cart(page)
    _enter_checkout(page)
    _send_to_a_pickup_point(page)
    _pay(page, outcome="Decline the card")
    expect(page.locator("#hint")).to_contain_text("The card was declined.")
    _pay(page, outcome="Pay")
    page.get_by_role("button", name="Place the order").dblclick()

    expect(page.get_by_role("heading", name="Thank you")).to_be_focused()
    expect(page.locator("#order")).to_contain_text("Order 1001 has been placed.")
    expect(page.locator("#totals")).to_contain_text("€26.12")
    with demo_shop.scope():
        order = Order.objects.get()
    assert (order.total_cents, order.email, order.payment_status) == (2612, "ada@example.com", "paid")
    run_due()
    page.get_by_role("link", name="The confirmation email").click()
    expect(page.get_by_text("Thank you")).to_be_visible()


@pytest.mark.django_db(transaction=True)
def test_refusals_are_shown_where_they_belong(demo_shop, page):
    page.goto("/demo/")
    _fill_the_cart(page)
    quantity = page.get_by_label("Quantity of Notebook")
    quantity.fill("99999")
    quantity.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("cart_limit_exceeded")
    expect(quantity).to_have_value("2")

    _enter_checkout(page)
    page.get_by_label("City").fill("")
    page.get_by_role("button", name="Save the address").click()
    expect(page.get_by_label("City")).to_be_focused()
    expect(page.get_by_label("City")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#address .error")).to_have_text("This field is required.")

    page.get_by_label("Code", exact=True).fill("NOPE")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("alert")).to_contain_text("discount_not_found")


@pytest.mark.django_db(transaction=True)
def test_cart_and_checkout_survive_a_reload(demo_shop, page):
    page.goto("/demo/")
    _fill_the_cart(page)
    page.reload()
    expect(page.locator("#totals")).to_contain_text("€25.80")
    _enter_checkout(page)
    page.reload()

    expect(page.get_by_role("heading", name="Checkout")).to_be_visible()
    expect(page.locator("#address").get_by_label("Email")).to_have_value("ada@example.com")
    page.get_by_role("button", name="Back to the cart").click()
    page.get_by_role("button", name="Remove Notebook").click()
    expect(page.get_by_text("The cart is empty.")).to_be_visible()


def _fill_the_cart(page: Page) -> None:
    """Two red notebooks, of which one is added by a double click, and one by a change of the quantity."""
    page.get_by_label("Variant").select_option(label="Red")
    page.get_by_role("button", name="Add Notebook to the cart").dblclick()
    quantity = page.get_by_label("Quantity of Notebook")
    expect(quantity).to_have_value("1")
    quantity.fill("2")
    quantity.press("Enter")
    expect(page.locator("#totals")).to_contain_text("€25.80")


def _enter_checkout(page: Page) -> None:
    page.locator("#enter").get_by_label("Email").fill("ada@example.com")
    page.get_by_role("button", name="Check out").click()
    expect(page.get_by_role("heading", name="Checkout")).to_be_focused()
    for label, text in {"Street and number": "Torstr. 1", "Postcode": "10115", "City": "Berlin"}.items():
        page.locator("#address").get_by_label(label).fill(text)


def _send_to_a_pickup_point(page: Page) -> None:
    page.get_by_role("button", name="Save the address").click()
    page.get_by_label("Locker").check()
    expect(page.get_by_label("Pickup point")).to_contain_text("Kiosk")
    # A change of the checkout loads the shipping methods again, and keeps what was chosen.
    page.get_by_label("Code", exact=True).fill("ten")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("#codes")).to_contain_text("€2.58")
    page.get_by_role("button", name="Choose this shipping method").click()
    expect(page.locator("#totals")).to_contain_text("€26.12")


def _pay(page: Page, *, outcome: str) -> None:
    page.get_by_label("Test card").check()
    page.get_by_role("button", name="Choose this payment method").click()
    page.get_by_role("button", name="Pay", exact=True).click()
    page.wait_for_url("**/test-card/*")
    page.get_by_role("button", name=outcome, exact=True).click()
    page.wait_for_url("**/demo/")

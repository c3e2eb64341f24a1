"""Pages ask before unsaved changes are lost, and only then."""

import pytest
from django.conf import settings
from playwright.sync_api import expect

from commerce.catalog.models import Product
from tests import factories
from tests.backoffice.clients import make_staff
from tests.demo.test_browser import page  # noqa: F401  a fixture
from tests.emails.conftest import renderer  # noqa: F401  a fixture

pytestmark = pytest.mark.django_db(transaction=True)

CATALOGUE = "/backoffice/catalog/product/"


@pytest.fixture
def questions(page):  # noqa: F811  the fixture
    """The questions of the browser, each of which is answered by staying."""
    asked = []

    def stay(dialog):
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    return asked


@pytest.fixture
def product(shop, live_server, page):  # noqa: F811  the fixture
    """A product, whose page a member of the shop has opened."""
    session = make_staff(shop).browser.cookies[settings.SESSION_COOKIE_NAME].value
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}
    page.context.add_cookies([cookie])
    product = factories.make_product(shop, title="Tea")
    factories.make_variant(shop, product=product, sku="TEA-1")
    page.goto(f"{CATALOGUE}{product.pk}/change/")
    expect(page.locator("[name=title]")).to_have_value("Tea")
    return product


def leave_by_keyboard(page):  # noqa: F811  the fixture
    page.get_by_role("link", name="Orders", exact=True).first.focus()
    page.keyboard.press("Enter")


@pytest.mark.parametrize(
    ("field", "text"), [("title", "Green tea"), ("variants-0-prices_1", "12"), ("description", "Green")]
)
def test_typed_text_is_not_lost_without_a_question(shop, page, product, questions, field, text):  # noqa: F811
    field = field.replace("prices_1", f"prices_{shop.market.pk}")
    page.locator(f"[name={field}]").fill(text)
    leave_by_keyboard(page)

    expect(page.locator(f"[name={field}]")).to_have_value(text)
    assert questions == ["beforeunload"]


def test_chosen_values_and_new_rows_are_not_lost_without_a_question(page, product, questions):  # noqa: F811
    page.locator("[name=status]").select_option("draft")
    leave_by_keyboard(page)
    expect(page.locator("[name=status]")).to_have_value("draft")
    page.locator("[name=status]").select_option("active")
    page.get_by_role("link", name="Add another Variant").click()
    leave_by_keyboard(page)

    expect(page.locator("[name=variants-1-sku]")).to_be_visible()
    assert questions == ["beforeunload", "beforeunload"]


def test_unchanged_page_is_left_without_a_question(page, product, questions):  # noqa: F811
    title = page.locator("[name=title]")
    title.fill("Green tea")
    title.fill("Tea")
    leave_by_keyboard(page)

    page.wait_for_url("**/backoffice/orders/order/")
    assert questions == []


def test_saving_asks_nothing(shop, page, product, questions):  # noqa: F811
    page.locator("[name=title]").fill("Green tea")
    page.get_by_role("button", name="Save", exact=True).click()

    page.wait_for_url(f"**{CATALOGUE}")
    assert questions == []
    with shop.scope():
        assert Product.objects.get().title == "Green tea"


def test_refused_changes_are_not_lost_without_a_question(page, product, questions):  # noqa: F811
    page.locator("[name=handle]").fill("not a handle")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Use lower-case letters, digits and hyphens")).to_be_visible()
    page.locator("[name=title]").click()
    leave_by_keyboard(page)

    expect(page.locator("[name=handle]")).to_have_value("not a handle")
    assert questions == ["beforeunload"]


def test_unchanged_template_is_left_without_a_question_after_a_preview(
    page,  # noqa: F811  the fixture
    product,
    questions,
    renderer,  # noqa: F811  the fixture
):
    page.goto("/backoffice/emails/emailtemplateversion/order.confirmation/de/edit/")
    page.get_by_role("button", name="Preview", exact=True).click()
    page.wait_for_load_state()
    expect(page.locator("form[data-asks-before-leaving='']")).to_be_attached()
    page.locator("[name=subject]").click()
    leave_by_keyboard(page)

    page.wait_for_url("**/backoffice/orders/order/")
    assert questions == []


def test_previewed_template_is_not_lost_without_a_question(
    page,  # noqa: F811  the fixture
    product,
    questions,
    renderer,  # noqa: F811  the fixture
):
    page.goto("/backoffice/emails/emailtemplateversion/order.confirmation/de/edit/")
    subject = page.locator("[name=subject]")
    subject.fill("Danke!")
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.get_by_text("Your order 1001").first).to_be_visible()
    subject.click()
    leave_by_keyboard(page)

    expect(subject).to_have_value("Danke!")
    assert questions == ["beforeunload"]

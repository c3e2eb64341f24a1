"""A day's work in the back office, in a real browser, with the demo shop. Asked to, it takes the documentation's pictures."""

import re
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.utils import timezone
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice
from playwright.sync_api import Locator, Page, expect

from accounts.models import Market, StaffMembership
from accounts.operations import add_member
from commerce.catalog.models import Product, VariantPricing
from commerce.inventory.models import InventoryLevel, Location
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from discounts.models import Voucher
from emails.models import EmailDelivery
from shipping.models import ShippingRate
from tests.backoffice.clients import make_user
from tests.backoffice.day.camera import WIDE, Camera
from tests.backoffice.day.history import open_demo_shop, sell
from tests.emails.renderer.conftest import renderer_service, renderer_url  # noqa: F401  fixtures
from tests.shops import Shop

PASSWORD = "correct horse battery"
PASTE = """(input, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text", text);
    input.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
}"""


@dataclass(frozen=True)
class Day:
    shop: Shop
    page: Page
    camera: Camera

    def open(self, path: str = "") -> None:
        self.page.goto(f"/backoffice/{path}")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def follow(self, name: str) -> None:
        self.page.get_by_role("link", name=name, exact=True).click()

    def field(self, label: str, within: Locator | None = None) -> Locator:
        """The field with this label, which ends with a star if the field is required."""
        return (within or self.page).get_by_label(re.compile(rf"^\W*{label}\W*$"))

    def fill(self, **values: str) -> None:
        for label, value in values.items():
            self.field(label.replace("_", " ")).fill(value)

    def log_in(self, username: str) -> None:
        self.page.context.clear_cookies()
        self.open("login/")
        self.fill(Username=username, Password=PASSWORD)
        self.press("Log in")

    def see(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()

    def photograph(self, name: str, **size: bool) -> None:
        self.camera.take(self.page, name, **size)


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(900)
def test_a_days_work(page, mail_dir, settings, renderer_url):  # noqa: F811  the fixture
    settings.RENDERER_URL = renderer_url
    page.set_viewport_size(WIDE)
    now = timezone.now()
    day = Day(open_demo_shop(now=now), page, Camera())
    sell(day.shop, now=now)
    _lose_an_email(day.shop)
    run_due()
    _make_owner(day.shop)

    _invite_a_manager(day)
    _join(day, mail_dir)
    _log_in_with_a_code(day)
    _read_the_overview(day)
    _add_a_product(day)
    _change_fifty_prices(day)
    _issue_and_disable_a_gift_card(day)
    _read_an_email(day)
    _retry_what_failed(day)
    _fulfil_ten_orders(day)
    _cancel_an_order(day)
    _set_up_shipping(day)
    _see_what_was_done(day)


def _lose_an_email(shop: Shop) -> None:
    """Let the message of the latest order fail for good, as with a mail server that was down for hours."""
    with shop.scope():
        latest = OutboxDispatch.objects.order_by("-pk").values_list("pk", flat=True)[:1]
        lost = OutboxDispatch.objects.filter(pk__in=list(latest))
        reason = "The mail server could not be reached."
        lost.update(status="dead", attempts=5, last_error=reason, finished_at=timezone.now())


def _make_owner(shop: Shop) -> None:
    owner = make_user(username="mira", first_name="Mira", last_name="Lindqvist", password=PASSWORD)
    with shop.scope():
        StaffMembership.objects.all().delete()
        add_member(account_id=shop.id, user_id=owner.pk, role="owner")


def _invite_a_manager(day: Day) -> None:
    day.log_in("mira")
    expect(day.page.get_by_role("heading", name="How the shop is doing")).to_be_visible()
    day.open("accounts/staffrole/add/")
    day.field("Name").fill("Warehouse")
    day.field("Scopes").select_option(["read_products", "write_inventory", "read_orders"])
    day.photograph("role")
    day.press("Save")
    day.open("accounts/staffinvitation/add/")
    day.field("Email").fill("jonas.weber@example.com")
    day.field("Role").select_option("manager")
    day.press("Save")
    day.see("was added successfully")


def _join(day: Day, mail_dir: Path) -> None:
    assert run_due()
    messages = "".join(path.read_text() for path in mail_dir.glob("*.html"))
    (link,) = set(re.findall(r"/backoffice/invitation/[\w-]+/", messages))
    day.page.context.clear_cookies()
    day.page.goto(link)
    day.see("Paper Harbour invites you to its staff as Manager.")
    day.field("Username").fill("jonas")
    day.field("First name").fill("Jonas")
    day.field("Last name").fill("Weber")
    day.fill(Password=PASSWORD, Password_again=PASSWORD)
    day.press("Join")
    expect(day.page.get_by_role("heading", name="How the shop is doing")).to_be_visible()
    day.open("security/")
    day.field("Your password").fill(PASSWORD)
    day.press("Continue")
    day.field("Name of the device").fill("Phone")
    day.press("Add an authenticator app")
    day.fill(Code_that_the_app_shows=_read_code())
    day.press("Set up the app")
    expect(day.page.get_by_role("heading", name="Your recovery codes")).to_be_visible()


def _read_code(*, steps: int = 0) -> str:
    """The code that Jonas's app shows, some steps of 30 seconds later."""
    device = TOTPDevice.objects.get(user__username="jonas")
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits)
    totp.time = time.time() + steps * device.step
    return f"{totp.token():06d}"


def _log_in_with_a_code(day: Day) -> None:
    day.log_in("jonas")
    expect(day.page.get_by_role("heading", name="Confirm that it's you")).to_be_visible()
    # A code works once, so it is that of the next half minute.
    day.fill(Code=_read_code(steps=1))
    day.press("Continue")
    expect(day.page.get_by_role("heading", name="How the shop is doing")).to_be_visible()


def _read_the_overview(day: Day) -> None:
    day.open()
    day.photograph("overview", is_tall=True)
    day.photograph("overview-narrow", is_narrow=True)
    day.page.keyboard.press("Control+k")
    day.page.keyboard.type("hanna")
    expect(day.page.get_by_role("option").first).to_contain_text("hanna.vogel@example.com")
    day.photograph("search")
    day.page.keyboard.press("Escape")


def _add_a_product(day: Day) -> None:
    with day.shop.scope():
        markets = dict(Market.objects.values_list("handle", "pk"))
        location = Location.objects.get(handle="main")
    prices = {"de": "19.90", "cz": "499", "us": "21.90"}
    numbers = {f"prices_{markets[handle]}": price for handle, price in prices.items()}
    numbers[f"grid_{location.pk}"] = "40"
    day.open("catalog/product/add/")
    day.field("Handle").fill("travel-journal")
    day.field("Title").first.fill("Travel journal")
    day.field("Description").fill("192 dotted pages, with a pocket for tickets.")
    variants = [("TJ-GREEN", "Green"), ("TJ-RUST", "Rust")]
    for index, (sku, title) in enumerate(variants):
        day.follow("Add another Variant")
        row = {"sku": sku, "title": title, "weight_grams": "340 g", **numbers}
        for name, text in row.items():
            day.page.locator(f"[name=variants-{index}-{name}]").fill(text)
    day.photograph("product")
    day.photograph("product-narrow", is_narrow=True)
    day.press("Save")
    day.see("was added successfully")
    with day.shop.scope():
        product = Product.objects.get(handle="travel-journal")
        prices = VariantPricing.objects.filter(variant__product=product)
        assert sorted(prices.values_list("currency", "price_cents")) == [
            ("CZK", 49900), ("CZK", 49900), ("EUR", 1990), ("EUR", 1990), ("USD", 2190), ("USD", 2190),
        ]  # fmt: skip
        levels = InventoryLevel.objects.filter(variant__product=product)
        assert list(levels.values_list("on_hand", flat=True)) == [40, 40]


def _change_fifty_prices(day: Day) -> None:
    with day.shop.scope():
        before = dict(VariantPricing.objects.values_list("pk", "price_cents"))
    day.open("catalog/variant/prices/")
    table = "\n".join(f"{20 + index}.50\t{500 + 25 * index}.00" for index in range(25))
    day.page.locator(".grid-input").first.evaluate(PASTE, table)
    expect(day.page.locator("[data-grid-count]")).to_have_text("50 values changed")
    day.photograph("prices")
    day.press("Review changes")
    day.see("50 values will change")
    day.press("Save")
    day.see("50 values were changed.")
    with day.shop.scope():
        after = dict(VariantPricing.objects.values_list("pk", "price_cents"))
    assert sum(before[pk] != price for pk, price in after.items()) == 50


def _issue_and_disable_a_gift_card(day: Day) -> None:
    day.open("discounts/voucher/")
    day.follow("Issue a gift card")
    dialog = day.page.get_by_role("dialog")
    day.field("Balance", dialog).fill("25.00")
    day.field("Recipient email", dialog).fill("clara.neumann@example.com")
    day.photograph("gift-card")
    dialog.get_by_role("button", name="Issue").click()
    day.see("has been issued.")
    with day.shop.scope():
        card = Voucher.objects.latest("pk")
    assert (card.balance_cents, card.currency, card.status) == (2500, "EUR", "active")
    day.open(f"discounts/voucher/{card.pk}/change/")
    day.follow("Disable")
    day.page.get_by_role("dialog").get_by_role("button", name="Disable the gift card").click()
    day.see("The gift card is disabled.")


def _read_an_email(day: Day) -> None:
    with day.shop.scope():
        delivery = EmailDelivery.objects.filter(to_email="hanna.vogel@example.com").latest("pk")
    day.open(f"emails/emaildelivery/{delivery.pk}/change/")
    message = day.page.frame_locator("iframe").locator("body")
    expect(message).to_contain_text("Paper Harbour")
    day.page.locator("iframe").scroll_into_view_if_needed()
    day.photograph("email")


def _retry_what_failed(day: Day) -> None:
    with day.shop.scope():
        dead = OutboxDispatch.objects.get(status="dead")
    day.open("outbox/outboxdispatch/")
    day.photograph("dispatches")
    day.open(f"outbox/outboxdispatch/{dead.pk}/change/")
    day.see("The mail server could not be reached.")
    day.follow("Retry")
    day.page.get_by_role("dialog").get_by_role("button", name="Retry").click()
    day.see("The dispatch runs at once.")
    run_due()
    with day.shop.scope():
        dead.refresh_from_db()
        assert dead.status == "succeeded"
        assert EmailDelivery.objects.get(idempotency_key=dead.idempotency_key).status == "sent"


def _fulfil_ten_orders(day: Day) -> None:
    with day.shop.scope():
        to_fulfil = Order.objects.filter(fulfillment_status="unfulfilled", status="open").count()
    day.open()
    day.page.get_by_role("link", name=f"Orders to fulfil {to_fulfil}").first.click()
    for index in range(10):
        day.page.get_by_label("Select record").nth(index).check()
    day.photograph("orders")
    day.page.locator("select[name=action]").select_option("fulfil")
    day.press("Run")
    day.see("This will be done for 10 rows")
    day.field("Carrier").fill("dhl")
    day.photograph("fulfil")
    day.press("Fulfil the orders")
    day.see("Done for 10 rows")
    with day.shop.scope():
        left = Order.objects.filter(fulfillment_status="unfulfilled", status="open").count()
        assert left == to_fulfil - 10
    run_due()


def _cancel_an_order(day: Day) -> None:
    with day.shop.scope():
        order = Order.objects.filter(fulfillment_status="unfulfilled", status="open").latest("pk")
    day.open(f"orders/order/{order.pk}/change/")
    day.photograph("order")
    day.follow("Cancel order")
    dialog = day.page.get_by_role("dialog")
    day.field("Reason", dialog).fill("Ordered twice")
    dialog.get_by_role("button", name="Cancel the order").click()
    day.see("The order is cancelled.")
    with day.shop.scope():
        order.refresh_from_db()
    assert order.status == "cancelled"


def _set_up_shipping(day: Day) -> None:
    day.open("shipping/shippingzone/add/")
    day.field("Handle").fill("austria")
    day.field("Name").fill("Austria")
    day.field("Country codes").fill("AT")
    day.press("Save")
    day.see("was added successfully")
    day.open("shipping/shippingmethod/add/")
    day.field("Handle").fill("parcel-at")
    day.field("Name").fill("Parcel to Austria")
    day.field("Zone").select_option(label="Austria")
    day.field("Rate mode").select_option("tiered")
    day.field("Carrier").fill("dhl")
    day.field("Service code").fill("parcel")
    day.follow("Add another Shipping rate")
    for name, text in {"price_cents": "12.90", "currency": "EUR", "max_weight_grams": "5 kg"}.items():
        day.page.locator(f"[name=rates-0-{name}]").fill(text)
    day.photograph("shipping")
    day.press("Save")
    day.see("was added successfully")
    with day.shop.scope():
        rate = ShippingRate.objects.get(method__handle="parcel-at")
    assert (rate.price_cents, rate.currency, rate.max_weight_grams) == (1290, "EUR", 5000)
    day.open("shipping/shippingzone/test/")
    day.field("Country").select_option("AT")
    day.field("Postcode").fill("1010")
    day.press("Show offers")
    day.see("Parcel to Austria")


def _see_what_was_done(day: Day) -> None:
    """The owner sees the manager's work."""
    day.log_in("mira")
    expect(day.page.get_by_role("heading", name="How the shop is doing")).to_be_visible()
    day.open("accounts/staffmembership/")
    day.photograph("staff")
    day.open("backoffice/staffaction/")
    expect(day.page.get_by_role("rowheader").first).to_be_visible()

# ruff: noqa: RUF001 - the multiplication signs are what customers read
"""The platform's own templates of `order.shipped` and `order.cancelled`, rendered by the service."""

import re

import pytest

from emails.renderer_client import RenderRequest, render
from emails.template_sources import find_template
from tests.emails.renderer.test_order_confirmation import LOCALES, line, order, totals, with_spaces

KEYS = ("order.shipped", "order.cancelled")
TRACKING = {
    "carrier": "DHL",
    "tracking_number": "JD0146",
    "tracking_url": "https://track.example.test/?id=JD0146&lang=en",
}


@pytest.fixture
def notice(renderer_url):
    """Render a notice of an order, which is paid unless the test says otherwise."""

    def notice(key, locale="en", *, account_name="Hats & Co", **fields):
        source = find_template(key, locale=locale, default_locale="en")
        ctx = {
            "account": {"name": account_name, "timezone": "Europe/Prague"},
            "order": order(**{"payment_status": "paid"} | fields),
        }
        message = RenderRequest(
            body_source=source.body,
            subject_template=source.subject,
            preheader_template=source.preheader,
            body_text_template=source.text,
            ctx=ctx,
            locale=locale,
        )
        return render(url=renderer_url, message=message)

    return notice


@pytest.mark.parametrize(
    ("key", "locale", "subject", "preheader"),
    [
        (
            "order.shipped",
            "en",
            "Your order 1001 at Hats & Co is on its way",
            "We have handed the parcel over to DHL.",
        ),
        (
            "order.shipped",
            "cs",
            "Vaše objednávka 1001 z obchodu Hats & Co je na cestě",
            "Zásilku jsme předali dopravci DHL.",
        ),
        (
            "order.shipped",
            "de",
            "Ihre Bestellung 1001 bei Hats & Co ist unterwegs",
            "Wir haben das Paket an DHL übergeben.",
        ),
        (
            "order.cancelled",
            "en",
            "Your order 1001 at Hats & Co has been cancelled",
            "Order 1001 will not be shipped.",
        ),
        (
            "order.cancelled",
            "cs",
            "Vaše objednávka 1001 v obchodě Hats & Co byla zrušena",
            "Objednávku 1001 už nepošleme.",
        ),
        (
            "order.cancelled",
            "de",
            "Ihre Bestellung 1001 bei Hats & Co wurde storniert",
            "Bestellung 1001 wird nicht versendet.",
        ),
    ],
)
def test_notice_renders_without_warnings(notice, key, locale, subject, preheader):
    rendered = notice(key, locale, **TRACKING)

    assert rendered.warnings == ()
    assert (rendered.subject, rendered.preheader) == (subject, preheader)
    assert "{{" not in rendered.html
    assert "{%" not in rendered.html


def test_shipped_as_text(notice):
    text = notice("order.shipped", **TRACKING).text

    assert text == (
        "Hats & Co\n"
        "\n"
        "YOUR ORDER IS ON ITS WAY\n"
        "\n"
        "We have shipped order 1001, placed on November 20, 2026, with DHL.\n"
        "\n"
        "Tracking number: JD0146\n"
        "Track your parcel: https://track.example.test/?id=JD0146&lang=en\n"
        "\n"
        "CONTENTS\n"
        "2 × Straw hat (HAT-1)\n"
        "\n"
        "DELIVERY ADDRESS\n"
        "Ann Novák\n"
        "Dlouhá 5\n"
        "110 00 Praha\n"
        "Czechia\n"
        "Courier\n"
        "\n"
        "Hats & Co sent this email to ann@example.test about order 1001."
    )


def test_shipped_links_to_the_parcel(notice):
    html = notice("order.shipped", **TRACKING).html

    assert 'href="https://track.example.test/?id=JD0146&amp;lang=en"' in html


def test_shipped_without_tracking_leaves_it_out(notice):
    rendered = notice("order.shipped")

    assert "We have shipped order 1001, placed on November 20, 2026.\n\nCONTENTS\n" in rendered.text
    assert "href=" not in rendered.html
    assert "Tracking" not in rendered.html
    assert rendered.preheader == "We have handed the parcel over."


@pytest.mark.parametrize(
    ("fields", "is_asked_for"),
    [
        ({"payment_status": "pending"}, True),
        ({"payment_status": "paid"}, False),
        ({"payment_status": "pending", "totals": totals(amount_due_cents="0")}, False),
        ({"payment_status": "pending", "payment_method": "bank_transfer"}, False),
    ],
)
def test_shipped_asks_for_what_is_paid_at_the_door(notice, fields, is_asked_for):
    rendered = notice("order.shipped", **fields)

    sentence = "You will pay on delivery. Please have CZK 2,420.00 ready."
    assert (sentence in with_spaces(rendered.text)) == is_asked_for
    assert ("You will pay on delivery." in rendered.html) == is_asked_for


def test_shipped_names_the_pickup_point_instead_of_the_address(notice):
    point = {"name": "Z-BOX Station", "address1": "Wilsonova 8", "city": "Praha 2", "zip": "120 00"}

    rendered = notice("order.shipped", pickup_point=point)

    assert "PICKUP POINT\nZ-BOX Station\nWilsonova 8\n120 00 Praha 2\nCourier\n" in rendered.text
    assert "DELIVERY ADDRESS" not in rendered.text


def test_cancelled_as_text(notice):
    text = notice("order.cancelled", totals=totals(gift_card_cents="50000", amount_due_cents="192000")).text

    assert with_spaces(text) == (
        "Hats & Co\n"
        "\n"
        "YOUR ORDER HAS BEEN CANCELLED\n"
        "\n"
        "Order 1001, placed on November 20, 2026, has been cancelled and will not be shipped.\n"
        "\n"
        "PAYMENT\n"
        "We will refund the CZK 1,920.00 that you paid.\n"
        "CZK 500.00 has been returned to your gift card.\n"
        "\n"
        "ITEMS ORDERED\n"
        "2 × Straw hat (HAT-1): CZK 2,420.00\n"
        "Order total: CZK 2,420.00\n"
        "\n"
        "Hats & Co sent this email to ann@example.test about order 1001."
    )


def test_cancelled_stops_a_bank_transfer(notice):
    rendered = notice("order.cancelled", payment_method="bank_transfer", payment_status="pending")

    assert "PAYMENT\nPlease do not transfer the amount." in rendered.text
    assert "Please do not transfer" in rendered.html
    assert "We will refund the" not in rendered.text


def test_cancelled_of_an_order_to_be_paid_at_the_door_speaks_of_no_money(notice):
    rendered = notice("order.cancelled", payment_status="pending")

    assert "PAYMENT" not in rendered.text
    assert "Payment<" not in rendered.html


def test_cancelled_shows_prices_as_the_market_does(notice):
    rendered = notice("order.cancelled", prices_include_tax=False)

    assert "2 × Straw hat (HAT-1): CZK 2,000.00\n" in with_spaces(rendered.text)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("locale", LOCALES)
def test_notice_escapes_what_others_wrote(notice, key, locale):
    script = "<script>alert(1)</script>"

    html = notice(
        key,
        locale,
        account_name=script,
        line_items=[line(title=script, sku=script)],
        carrier=script,
        tracking_number=script,
    ).html

    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_address_of_the_parcel_stays_inside_its_link(notice):
    html = notice("order.shipped", tracking_url='https://example.test/"onclick="alert(1)').html

    assert 'href="https://example.test/&quot;onclick=&quot;alert(1)"' in html


@pytest.mark.parametrize("key", KEYS)
def test_notice_loads_nothing_from_outside(notice, key):
    html = notice(key, **TRACKING).html

    assert "<img" not in html
    assert "<link" not in html
    urls = {url.partition("?")[0] for url in re.findall(r"https?://[^\s\"')]+", html)}
    assert urls <= {"http://www.w3.org/1999/xhtml", "https://track.example.test/"}


@pytest.mark.parametrize("key", KEYS)
def test_notice_of_the_largest_cart_renders(notice, key):
    rendered = notice(key, line_items=[line(title=f"Hat {number}") for number in range(500)])

    assert rendered.warnings == ()
    assert "Hat 499" in rendered.html

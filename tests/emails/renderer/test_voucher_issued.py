"""The platform's own templates of `voucher.issued`, rendered by the service."""

import re

import pytest

from emails.renderer_client import RenderRequest, render
from emails.template_sources import load_platform_templates
from tests.emails.renderer.test_order_confirmation import LOCALES, with_spaces


def voucher(**fields):
    return {
        "code": "0A1B-2C3D-4E5F-6G7H",
        "currency": "CZK",
        "balance_cents": "250000",
        "expires_at": "2027-12-31T22:59:00Z",
        "recipient_email": "ann@example.test",
        **fields,
    }


@pytest.fixture
def send(renderer_url):
    def send(locale, *, account_name="Hats & Co", **fields):
        source = load_platform_templates()["voucher.issued"][locale]
        account = {"name": account_name, "timezone": "Europe/Prague"}
        message = RenderRequest(
            body_source=source.body,
            subject_template=source.subject,
            ctx={"account": account, "voucher": voucher(**fields)},
            locale=locale,
            preheader_template=source.preheader,
            body_text_template=source.text,
        )
        return render(url=renderer_url, message=message)

    return send


@pytest.mark.parametrize(
    ("locale", "subject", "preheader", "until"),
    [
        (
            "en",
            "Your gift card from Hats & Co",
            "You have received a gift card of CZK 2,500.00.",
            "Valid until December 31, 2027",
        ),
        (
            "cs",
            "Vaše dárková karta od Hats & Co",
            "Dostali jste dárkovou kartu v hodnotě 2 500,00 Kč.",
            "Platí do 31. prosince 2027",
        ),
        (
            "de",
            "Ihre Geschenkkarte von Hats & Co",
            "Sie haben eine Geschenkkarte über 2.500,00 CZK erhalten.",
            "Gültig bis 31. Dezember 2027",
        ),
    ],
)
def test_gift_card_renders_without_warnings(send, locale, subject, preheader, until):
    rendered = send(locale)

    assert rendered.warnings == ()
    assert with_spaces(rendered.subject) == subject
    assert with_spaces(rendered.preheader) == preheader
    for body in (rendered.html, rendered.text):
        assert "0A1B-2C3D-4E5F-6G7H" in body
        assert until in with_spaces(body)
        assert "{{" not in body
        assert "{%" not in body


def test_gift_card_as_text(send):
    text = send("en").text

    assert with_spaces(text) == (
        "Hats & Co\n"
        "\n"
        "YOUR GIFT CARD\n"
        "\n"
        "Here is your gift card of CZK 2,500.00. Enter the code at checkout."
        " Any unused balance stays on the card.\n"
        "\n"
        "CODE\n"
        "0A1B-2C3D-4E5F-6G7H\n"
        "Valid until December 31, 2027, 23:59\n"
        "\n"
        "Anyone who has the code can use it, so keep it safe.\n"
        "\n"
        "Hats & Co sent this email to ann@example.test because the gift card was issued to this address."
    )


@pytest.mark.parametrize("locale", LOCALES)
def test_gift_card_without_an_end_mentions_none(send, locale):
    rendered = send(locale, expires_at=None)

    assert "2027" not in rendered.html + rendered.text
    assert "0A1B-2C3D-4E5F-6G7H\n\n" in rendered.text


@pytest.mark.parametrize("locale", LOCALES)
def test_gift_card_escapes_what_the_merchant_wrote(send, locale):
    rendered = send(locale, account_name="<script>alert(1)</script>")

    assert "<script" not in rendered.html
    assert rendered.html.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2


@pytest.mark.parametrize("locale", LOCALES)
def test_gift_card_loads_nothing_from_outside(send, locale):
    html = send(locale).html

    assert "<img" not in html
    assert "<link" not in html
    assert set(re.findall(r"https?://[^\s\"')]+", html)) == {"http://www.w3.org/1999/xhtml"}

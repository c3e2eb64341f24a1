# ruff: noqa: RUF001 - the minus and multiplication signs are what customers read
"""The platform's own templates of `order.confirmation`, rendered by the service."""

import re

import pytest

from emails.renderer_client import RenderRequest, render
from emails.template_sources import load_platform_templates

LOCALES = ("en", "cs", "de")


def address(**fields):
    return {
        "first_name": "Ann",
        "last_name": "Novák",
        "company": None,
        "address1": "Dlouhá 5",
        "address2": None,
        "city": "Praha",
        "zip": "110 00",
        "country_code": "CZ",
        "phone": None,
        **fields,
    }


def line(**fields):
    return {
        "title": "Straw hat",
        "sku": "HAT-1",
        "quantity": 2,
        "unit_price_with_tax_cents": "121000",
        "unit_price_without_tax_cents": "100000",
        "line_total_with_tax_cents": "242000",
        "line_total_without_tax_cents": "200000",
        **fields,
    }


def totals(**fields):
    return {
        "subtotal_with_tax_cents": "242000",
        "subtotal_without_tax_cents": "200000",
        "discount_cents": "0",
        "shipping_cents": "0",
        "cod_fee_cents": "0",
        "tax_cents": "42000",
        "total_cents": "242000",
        "gift_card_cents": "0",
        "amount_due_cents": "242000",
        **fields,
    }


def order(**fields):
    return {
        "number": "1001",
        "placed_at": "2026-11-20T09:30:00Z",
        "currency": "CZK",
        "email": "ann@example.test",
        "customer_note": "",
        "payment_method": "cod",
        "line_items": [line()],
        "totals": totals(),
        "prices_include_tax": True,
        "shipping_address": address(),
        "billing_address": None,
        "shipping_method": {"name": "Courier", "carrier": "courier"},
        "pickup_point": None,
        "discount_codes": [],
        **fields,
    }


def with_spaces(text):
    """Replace the no-break spaces of amounts, so that expectations are easier to read."""
    return text.replace("&nbsp;", " ").replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture
def confirm(renderer_url):
    def confirm(locale, *, account_name="Hats & Co", **fields):
        source = load_platform_templates()["order.confirmation"][locale]
        message = RenderRequest(
            body_source=source.body,
            subject_template=source.subject,
            ctx={"account": {"name": account_name, "handle": "hats"}, "order": order(**fields)},
            locale=locale,
            preheader_template=source.preheader,
            body_text_template=source.text,
        )
        return render(url=renderer_url, message=message)

    return confirm


@pytest.mark.parametrize(
    ("locale", "subject", "preheader"),
    [
        (
            "en",
            "Your order 1001 at Hats & Co",
            "We have received your order of CZK 2,420.00 and are getting it ready.",
        ),
        (
            "cs",
            "Vaše objednávka 1001 v obchodě Hats & Co",
            "Přijali jsme Vaši objednávku za 2 420,00 Kč a už ji připravujeme.",
        ),
        (
            "de",
            "Ihre Bestellung 1001 bei Hats & Co",
            "Wir haben Ihre Bestellung über 2.420,00 CZK erhalten und bereiten sie vor.",
        ),
    ],
)
def test_confirmation_renders_without_warnings(confirm, locale, subject, preheader):
    rendered = confirm(locale)

    assert rendered.warnings == ()
    assert rendered.subject == subject
    assert rendered.preheader == preheader
    assert "{{" not in rendered.html
    assert "{%" not in rendered.html


FULL_ORDER = {
    "totals": totals(
        discount_cents="24200",
        shipping_cents="9900",
        cod_fee_cents="3900",
        tax_cents="40222",
        total_cents="231600",
        gift_card_cents="50000",
        amount_due_cents="181600",
    ),
    "customer_note": "Ring twice,\nplease",
}

EXPECTED_AMOUNTS = {
    "en": {
        "Subtotal": "CZK 2,420.00",
        "Discount": "−CZK 242.00",
        "Shipping": "CZK 99.00",
        "Cash on delivery fee": "CZK 39.00",
        "Total": "CZK 2,316.00",
        "Gift card": "−CZK 500.00",
        "Amount due": "CZK 1,816.00",
    },
    "cs": {
        "Mezisoučet": "2 420,00 Kč",
        "Sleva": "−242,00 Kč",
        "Doprava": "99,00 Kč",
        "Poplatek za dobírku": "39,00 Kč",
        "Celkem": "2 316,00 Kč",
        "Dárková karta": "−500,00 Kč",
        "Zbývá uhradit": "1 816,00 Kč",
    },
    "de": {
        "Zwischensumme": "2.420,00 CZK",
        "Rabatt": "−242,00 CZK",
        "Versand": "99,00 CZK",
        "Nachnahmegebühr": "39,00 CZK",
        "Gesamtsumme": "2.316,00 CZK",
        "Geschenkkarte": "−500,00 CZK",
        "Zu zahlen": "1.816,00 CZK",
    },
}


@pytest.mark.parametrize("locale", LOCALES)
def test_confirmation_lists_every_amount(confirm, locale):
    rendered = confirm(locale, **FULL_ORDER)

    rows = re.findall(r"<td[^>]*>([^<]+)</td>\s*<td[^>]*>([^<]+)</td>", with_spaces(rendered.html))
    assert {label: amount for label, amount in rows if label in EXPECTED_AMOUNTS[locale]} == EXPECTED_AMOUNTS[
        locale
    ]
    for label, amount in EXPECTED_AMOUNTS[locale].items():
        assert f"\n{label}: {amount}\n" in with_spaces(rendered.text)


def test_confirmation_as_text(confirm):
    text = confirm(
        "en", billing_address=address(company="Novák s.r.o.", address2="2nd floor"), **FULL_ORDER
    ).text

    assert with_spaces(text) == (
        "Hats & Co\n"
        "\n"
        "THANK YOU FOR YOUR ORDER\n"
        "\n"
        "We have received order 1001, placed on November 20, 2026, and are getting it ready. Here is what you ordered.\n"
        "\n"
        "2 × Straw hat (HAT-1): CZK 2,420.00\n"
        "\n"
        "Subtotal: CZK 2,420.00\n"
        "Discount: −CZK 242.00\n"
        "Shipping: CZK 99.00\n"
        "Cash on delivery fee: CZK 39.00\n"
        "Total: CZK 2,316.00\n"
        "Includes tax of CZK 402.22\n"
        "Gift card: −CZK 500.00\n"
        "Amount due: CZK 1,816.00\n"
        "\n"
        "PAYMENT\n"
        "You will pay on delivery. Please have CZK 1,816.00 ready.\n"
        "\n"
        "DELIVERY ADDRESS\n"
        "Ann Novák\n"
        "Dlouhá 5\n"
        "110 00 Praha\n"
        "Czechia\n"
        "Courier\n"
        "\n"
        "BILLING ADDRESS\n"
        "Ann Novák\n"
        "Novák s.r.o.\n"
        "Dlouhá 5\n"
        "2nd floor\n"
        "110 00 Praha\n"
        "Czechia\n"
        "\n"
        "YOUR NOTE\n"
        "Ring twice,\n"
        "please\n"
        "\n"
        "Hats & Co sent this email to ann@example.test about order 1001."
    )


def test_confirmation_of_a_net_market_adds_the_tax(confirm):
    rendered = confirm("de", currency="EUR", prices_include_tax=False)

    text = with_spaces(rendered.text)
    assert "2 × Straw hat (HAT-1): 2.000,00 €\n" in text
    assert "Zwischensumme: 2.000,00 €\nVersand: Kostenlos\nMwSt.: 420,00 €\nGesamtsumme: 2.420,00 €\n" in text
    assert "Darin enthaltene" not in text
    assert "2 × 1.000,00 € · HAT-1" in with_spaces(rendered.html)


def test_confirmation_without_extras_leaves_their_rows_out(confirm):
    rendered = confirm("en", totals=totals(tax_cents="0"))

    for label in (
        "Discount",
        "Cash on delivery fee",
        "Gift card",
        "Amount due",
        "Includes tax",
        "Tax",
        "Your note",
    ):
        assert f">{label}" not in rendered.html
    assert "Shipping: Free\nTotal: " in rendered.text


def test_confirmation_asks_for_a_bank_transfer(confirm):
    rendered = confirm("cs", payment_method="bank_transfer")

    assert "Uhraďte prosím <strong>2 420,00 Kč</strong>" in with_spaces(rendered.html)
    assert "jako variabilní symbol uveďte 1001." in rendered.text


@pytest.mark.parametrize(
    ("locale", "holder"), [("en", "Account holder"), ("de", "Kontoinhaber"), ("cs", "Majitel účtu")]
)
def test_confirmation_names_the_bank_account(confirm, locale, holder):
    account = {
        "holder": "Hats & Co",
        "iban": "DE89 3704 0044 0532 0130 00",
        "bic": "COBADEFFXXX",
        "note": "Thanks",
    }

    rendered = confirm(locale, payment_method="bank_transfer", bank_account=account)

    assert rendered.warnings == ()
    assert f"{holder}: <strong>Hats &amp; Co</strong>" in rendered.html
    assert "IBAN: <strong>DE89 3704 0044 0532 0130 00</strong>" in rendered.html
    assert (
        f"{holder}: Hats & Co\nIBAN: DE89 3704 0044 0532 0130 00\nBIC: COBADEFFXXX\nThanks" in rendered.text
    )


def test_confirmation_leaves_out_what_the_bank_account_lacks(confirm):
    account = {"holder": "", "iban": "", "bic": "", "note": "Account 123/0100"}

    rendered = confirm("en", payment_method="bank_transfer", bank_account=account)

    assert "Account 123/0100" in rendered.text
    assert "IBAN" not in rendered.text + rendered.html
    assert "BIC" not in rendered.text + rendered.html


@pytest.mark.parametrize(
    "fields", [{"payment_method": "test_card"}, {"totals": totals(amount_due_cents="0")}]
)
def test_confirmation_of_a_paid_order_asks_for_nothing(confirm, fields):
    rendered = confirm("en", **fields)

    assert "Payment<" not in rendered.html
    assert "PAYMENT" not in rendered.text


def test_confirmation_names_the_pickup_point_instead_of_the_address(confirm):
    point = {"name": "Z-BOX Station", "address1": "Wilsonova 8", "city": "Praha 2", "zip": "120 00"}

    rendered = confirm("en", pickup_point=point)

    assert "PICKUP POINT\nZ-BOX Station\nWilsonova 8\n120 00 Praha 2\nCourier\n" in rendered.text
    assert "DELIVERY ADDRESS" not in rendered.text
    assert "Z-BOX Station<br" in rendered.html


@pytest.mark.parametrize("locale", LOCALES)
def test_confirmation_escapes_what_customer_and_merchant_wrote(confirm, locale):
    script = "<script>alert(1)</script>"

    rendered = confirm(
        locale,
        account_name=script,
        line_items=[line(title=script, sku=script)],
        customer_note=f"{script}\n{script}",
        shipping_address=address(company=script, city=script),
    )

    assert "<script" not in rendered.html
    assert rendered.html.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 10


@pytest.mark.parametrize("locale", LOCALES)
def test_confirmation_loads_nothing_from_outside(confirm, locale):
    html = confirm(locale, **FULL_ORDER).html

    assert "<img" not in html
    assert "<link" not in html
    assert set(re.findall(r"https?://[^\s\"')]+", html)) == {"http://www.w3.org/1999/xhtml"}


def test_confirmation_of_the_largest_cart_renders(confirm):
    rendered = confirm("en", line_items=[line(title=f"Hat {number}") for number in range(500)])

    assert rendered.warnings == ()
    assert "Hat 499<br" in rendered.html


REVERSE_CHARGE = {
    "en": "Reverse charge: an intra-Community supply, exempt from VAT (Article 138 of Council Directive 2006/112/EC)",
    "cs": "osvobozené od daně (článek 138 směrnice Rady 2006/112/ES); daň přizná zákazník.",
    "de": "steuerfreie innergemeinschaftliche Lieferung (Artikel 138 der Richtlinie 2006/112/EG des Rates)",
}


@pytest.mark.parametrize("locale", LOCALES)
def test_confirmation_cites_the_law_of_a_reverse_charge(confirm, locale):
    vat = {"number": "ATU57194903", "reverse_charge": True}

    charged = confirm(locale, vat=vat, totals=totals(tax_cents="0"))
    taxed = [confirm(locale, vat=other) for other in (vat | {"reverse_charge": False}, None)]

    assert charged.warnings == ()
    assert all(REVERSE_CHARGE[locale] in body for body in (charged.html, charged.text))
    assert all("ATU57194903" in body for body in (charged.html, charged.text))
    assert all("138" not in rendered.html + rendered.text for rendered in taxed)

"""From the commit of an order to the message, with the production renderer."""

from email import message_from_bytes, policy

import pytest

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from emails.models import EmailDelivery
from tests import factories
from tests.discounts.vouchers.cards import make_voucher
from tests.emails.renderer.conftest import MJML, renderer_service, renderer_url  # noqa: F401  fixtures
from tests.emails.renderer.test_order_confirmation import order
from tests.storefront import checkout_in


def test_order_confirmation_reaches_the_folder_and_the_api(
    shop,
    mail_dir,
    enqueue_email,
    settings,
    renderer_url,  # noqa: F811  the fixture
):
    settings.RENDERER_URL = renderer_url
    enqueue_email(shop, locale="en-US", ctx={"order": order(number="1001")})

    run_due()

    with shop.scope():
        assert OutboxDispatch.objects.get().status == "succeeded"
    (path,) = mail_dir.glob("*.eml")
    mail = message_from_bytes(path.read_bytes(), policy=policy.default)
    assert mail["Subject"] == f"Your order 1001 at {shop.handle.title()}"
    (listed,) = shop.admin.get("email/deliveries.json?reference_type=order&reference_id=7").json()[
        "email_deliveries"
    ]
    assert listed["status"] == "sent"
    shown = shop.admin.get(f"email/deliveries/{listed['id']}.json?include_body=true").json()["email_delivery"]
    assert "Straw hat" in shown["html"]
    assert shown["text"] in mail.get_body(("plain",)).get_content().replace("\r\n", "\n")


def test_gift_card_reaches_its_recipient(shop, mail_dir, settings, renderer_url):  # noqa: F811  the fixture
    settings.RENDERER_URL = renderer_url
    voucher = make_voucher(shop, recipient_email="ann@example.com", send_email=True)

    run_due()

    (path,) = mail_dir.glob("*.eml")
    mail = message_from_bytes(path.read_bytes(), policy=policy.default)
    assert (mail["To"], mail["Subject"]) == ("ann@example.com", f"Your gift card from {shop.handle.title()}")
    assert voucher.code in mail.get_body(("plain",)).get_content()
    (listed,) = shop.admin.get(
        f"email/deliveries.json?reference_type=voucher&reference_id={voucher.pk}"
    ).json()["email_deliveries"]
    assert (listed["template_key"], listed["status"]) == ("voucher.issued", "sent")


@pytest.mark.parametrize(
    ("action", "subject", "words"),
    [
        ("fulfill", "Ihre Bestellung 1001 bei {} ist unterwegs", "Sendungsnummer: JD0146\n"),
        ("cancel", "Ihre Bestellung 1001 bei {} wurde storniert", "2 × Mug"),  # noqa: RUF001  as customers read it
    ],
)
def test_what_becomes_of_an_order_reaches_its_customer(
    shop,
    mail_dir,
    settings,
    renderer_url,  # noqa: F811  the fixture
    action,
    subject,
    words,
):
    settings.RENDERER_URL = renderer_url
    product = factories.make_product(shop, title="Mug")
    checkout = checkout_in("completed", shop, (factories.make_variant(shop, product=product), 2))
    shop.admin.post(f"orders/{checkout['order_id']}/{action}.json", {"tracking_number": "JD0146"})

    run_due()

    with shop.scope():
        assert set(OutboxDispatch.objects.values_list("status", flat=True)) == {"succeeded"}
    mails = [message_from_bytes(path.read_bytes(), policy=policy.default) for path in mail_dir.glob("*.eml")]
    (mail,) = (mail for mail in mails if mail["Subject"] == subject.format(shop.handle.title()))
    assert mail["To"] == "ada@example.com"
    assert words in mail.get_body(("plain",)).get_content().replace("\r\n", "\n")


def test_own_template_with_null_characters_is_sent_without_them(
    shop,
    mail_dir,
    enqueue_email,
    settings,
    renderer_url,  # noqa: F811  the fixture
    make_version,
):
    settings.RENDERER_URL = renderer_url
    nul = "a{{ '%00' | url_decode }}b"
    make_version(shop, subject=nul, body_source=MJML.format(nul), body_text=nul, preheader=nul)
    enqueue_email(shop, locale="en")

    run_due()

    with shop.scope():
        delivery = EmailDelivery.objects.get()
        assert OutboxDispatch.objects.get().status == "succeeded"
    assert (delivery.subject, delivery.text) == ("a b", "ab")
    assert ">ab<" in delivery.html
    (path,) = mail_dir.glob("*.eml")
    assert b"\0" not in path.read_bytes()

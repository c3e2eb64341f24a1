"""docs/extending.md, "Add an email": a folder and a declaration, without touching the product."""

from pathlib import Path
from typing import TypedDict

import pytest
from django.utils import timezone

from commerce.mail import EmailKind, enqueue_email
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests.emails.providers.test_smtp import mailbox, server  # noqa: F401  fixtures
from tests.emails.renderer.conftest import renderer_service, renderer_url  # noqa: F401  fixtures
from tests.factories import make_customer


class Parcel(TypedDict):
    number: str
    arrived_on: str


class ReturnVariables(TypedDict):
    parcel: Parcel


RETURNED = EmailKind[ReturnVariables]("parcel.returned", reference_type="order")
PATH = f"email/templates/{RETURNED.key}"
TEXTS = {
    "en": (
        "Parcel JD0146 is back",
        "YOUR RETURN HAS ARRIVED\n\nParcel JD0146 arrived on November 20, 2026.",
        "sent this email about parcel JD0146.",
    ),
    "de": (
        "Paket JD0146 ist zurück",
        "IHRE RÜCKSENDUNG IST DA\n\nDas Paket JD0146 ist am 20. November 2026 angekommen.",
        "hat diese E-Mail zum Paket JD0146 gesendet.",
    ),
}


@pytest.fixture
def mail_shop(shop, settings, server, renderer_url):  # noqa: F811  fixtures
    """A shop with a mail server of its own, in an installation with one more kind of email."""
    settings.EMAIL_FOLDERS = [*settings.EMAIL_FOLDERS, Path(__file__).parent / "emails"]
    settings.RENDERER_URL = renderer_url
    settings.OUTSIDE_ALLOW_PRIVATE = True
    names = {"provider": "smtp", "smtp_host": "127.0.0.1", "smtp_port": server.port, "smtp_security": "none"}
    answer = shop.admin.put(
        "settings.json", {"settings": {f"commerce.email.{name}": value for name, value in names.items()}}
    )
    assert answer.status_code == 200
    return shop


def tell_of_return(shop, *, key="one", customer_id=None, locale=None):
    with shop.scope():
        enqueue_email(
            RETURNED,
            to_email="ann@example.com",
            customer_id=customer_id,
            locale=locale,
            variables={"parcel": {"number": "JD0146", "arrived_on": "2026-11-20"}},
            reference_id=7,
            idempotency_key=f"{RETURNED.key}/{key}",
            now=timezone.now(),
        )


@pytest.mark.parametrize("locale", TEXTS)
def test_new_email_is_sent_in_each_locale(mail_shop, mailbox, locale):  # noqa: F811  the fixture
    subject, text, reason = TEXTS[locale]
    tell_of_return(mail_shop, locale=locale)
    tell_of_return(mail_shop, locale=locale)

    run_due()

    (mail,) = mailbox.mails
    name = mail_shop.handle.title()
    sent = mail.get_body(("plain",)).get_content().replace("\r\n", "\n").strip()
    assert (mail["To"], mail["Subject"], mail["Content-Language"]) == ("ann@example.com", subject, locale)
    assert sent == f"{name}\n\n{text}\n\n{name} {reason}"
    html = mail.get_body(("html",)).get_content()
    assert f'<html lang="{locale}"' in html
    assert "<strong>JD0146</strong>" in html
    assert reason in html
    (listed,) = mail_shop.admin.get("email/deliveries.json?reference_type=order&reference_id=7").json()[
        "email_deliveries"
    ]
    assert (listed["template_key"], listed["status"]) == (RETURNED.key, "sent")


@pytest.mark.parametrize("locale", TEXTS)
def test_new_email_is_previewed_with_its_sample(mail_shop, locale):
    subject, text, reason = TEXTS[locale]

    shown = mail_shop.admin.post(f"{PATH}/{locale}/preview.json", {}).json()

    assert shown["subject"] == subject
    assert text in shown["text"]
    assert reason in shown["html"]
    assert shown["warnings"] == []


def test_customer_can_switch_a_new_email_off(mail_shop, mailbox):  # noqa: F811  the fixture
    customer = make_customer(mail_shop, email="ann@example.com")
    path = f"customers/{customer.pk}/notification_preferences.json"
    assert mail_shop.admin.get(path).json()["notification_preferences"][RETURNED.key] is True
    mail_shop.admin.put(path, {"notification_preferences": {RETURNED.key: False}})

    tell_of_return(mail_shop, customer_id=customer.pk)
    run_due()

    with mail_shop.scope():
        assert OutboxDispatch.objects.get().status == "skipped"
    assert mailbox.mails == []


def test_account_writes_its_own_version_within_the_shared_layout(mail_shop, mailbox):  # noqa: F811  the fixture
    sections = (
        "<mj-section><mj-column><mj-text>We have {{ parcel.number }}.</mj-text></mj-column></mj-section>"
    )
    saved = mail_shop.admin.put(
        f"{PATH}/en.json", {"subject": "Got it", "body_source": sections, "expected_version": 0}
    )
    assert saved.json()["email_template"]["body_source"] == sections

    tell_of_return(mail_shop, locale="en")
    run_due()

    (mail,) = mailbox.mails
    html = mail.get_body(("html",)).get_content()
    assert mail["Subject"] == "Got it"
    assert "We have JD0146." in html
    assert f"{mail_shop.handle.title()} sent this email about parcel JD0146." in html
    assert "Your return" in html

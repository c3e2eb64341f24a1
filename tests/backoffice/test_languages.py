"""The language of each page, and of what must stay English."""

import re
from datetime import UTC, datetime

import pytest
from django.test import Client
from django.utils import translation
from django.utils.translation import ngettext

from accounts.models import ApiKey, User
from commerce.backoffice.models import StaffAction
from commerce.backoffice.wordings import explain
from commerce.configuration.registry import known_settings
from commerce.customers.models import Customer
from commerce.errors import ValidationFailed
from commerce.inventory.models import InventoryLevel
from commerce.outbox.worker import run_due
from discounts.models import Discount
from emails.tasks import send_password_reset
from tests import factories
from tests.backoffice.clients import ROOT, make_role, make_staff, make_user, messages_of
from tests.backoffice.stale import errors_of

GERMAN = {"HTTP_ACCEPT_LANGUAGE": "de-AT,de;q=0.9"}


def language_of(page):
    return re.search(r'<html lang="([^"]*)"', page.content.decode())[1]


@pytest.mark.parametrize(
    ("header", "chosen", "language"),
    [
        ("", "", "en"),
        ("de-AT,de;q=0.9", "", "de"),
        ("cs", "", "cs"),
        ("fr", "", "en"),
        ("de", "cs", "cs"),
        ("de", "en", "en"),
    ],
)
def test_page_is_in_the_chosen_language_or_else_the_browsers(shop, owner, header, chosen, language):
    User.objects.filter(pk=owner.user.pk).update(language=chosen)

    page = owner.browser.get(ROOT, HTTP_ACCEPT_LANGUAGE=header)

    assert language_of(page) == language


@pytest.mark.parametrize("path", ["login/", "password-reset/", "invitation/"])
def test_pages_before_the_log_in_are_in_the_browsers_language(db, path):
    assert language_of(Client(**GERMAN).get(ROOT + path)) == "de"


def test_language_is_chosen_on_the_persons_own_page(shop, owner):
    answer = owner.post("security/", {"action": "language", "language": "cs"})

    assert answer.status_code == 302
    assert User.objects.get(pk=owner.user.pk).language == "cs"
    assert language_of(owner.get()) == "cs"
    owner.post("security/", {"action": "language", "language": ""})
    assert language_of(owner.get()) == "en"


def test_unknown_language_is_refused(shop, owner):
    answer = owner.post("security/", {"action": "language", "language": "tlh"})

    assert list(answer.context["language_form"].errors) == ["language"]
    assert User.objects.get(pk=owner.user.pk).language == ""


def test_api_answers_in_english_whatever_the_client_asks_for(shop):
    bodies = [
        shop.admin.post("locations.json", {}, accept_language=language).json()
        for language in ("en", "de", "cs")
    ]

    assert bodies[0]["title"] == "The request has fields that can't be accepted"
    assert {error["detail"] for error in bodies[0]["errors"]} == {"This field is required."}
    assert [without_instance(body) for body in bodies] == [without_instance(bodies[0])] * 3


def without_instance(body):
    return {name: value for name, value in body.items() if name not in {"instance", "request_id"}}


def test_log_is_kept_in_english_and_shown_in_the_readers_language(shop):
    owner = make_staff(shop, **GERMAN)
    product = factories.make_product(shop, title="Mug")

    owner.fill(f"catalog/product/{product.pk}/change/", title="Cup")

    with shop.scope():
        action = StaffAction.objects.get()
    assert action.summary == "changed Title"
    assert action.changes == [{"field": "title", "before": "Mug", "after": "Cup"}]


def test_texts_numbers_and_dates_are_in_the_readers_language(shop):
    owner = make_staff(shop, **GERMAN)
    variant = factories.make_variant(shop, sku="MUG-1", price_cents=123450)
    customer = factories.make_customer(shop, email="ada@example.com")
    with shop.scope():
        Customer.objects.update(created_at=datetime(2026, 3, 2, 14, 5, tzinfo=UTC))

    page = owner.get(f"catalog/variant/{variant.pk}/change/").content.decode()
    listed = owner.get("customers/customer/").content.decode()

    assert 'value="1234,50"' in page
    assert "Vergleichspreis" in page
    assert "2. März 2026" in listed
    assert "Anfang der E-Mail-Adresse oder eines Namens" in listed
    assert customer.email in listed


def test_amounts_are_read_with_a_decimal_comma(shop):
    czech = make_staff(shop, HTTP_ACCEPT_LANGUAGE="cs")

    answer = czech.fill(
        "discounts/discount/add/",
        title="Sleva",
        type="discount_code",
        code="SLEVA",
        value_mode="percentage",
        value_amount="12,5",
    )

    assert answer.status_code == 302
    with shop.scope():
        assert Discount.objects.get().value_amount == 1250


def test_refusals_are_translated_for_staff(shop):
    owner = make_staff(shop, **GERMAN)
    variant = factories.make_variant(shop, sku="MUG-1", stock=3)
    with shop.scope():
        level = InventoryLevel.objects.get(variant=variant)

    answer = owner.confirm(f"inventory/inventorylevel/{level.pk}/adjust/", delta="-4", reason="count")
    location = owner.fill("inventory/location/add/", handle="Großes Lager", name="Lager")

    assert messages_of(answer) == ["Der Bestand würde unter das sinken, was reserviert und zugeteilt ist"]
    assert errors_of(location) == {
        "handle": [
            "Verwenden Sie Kleinbuchstaben, Ziffern und Bindestriche; beginnen Sie nicht mit einem Bindestrich."
        ]
    }


@pytest.mark.parametrize(
    ("count", "text"), [(1, "1 varianta"), (3, "3 varianty"), (5, "5 variant"), (21, "21 variant")]
)
def test_czech_counts_with_all_of_its_plurals(count, text):
    with translation.override("cs"):
        assert ngettext("%(count)d variant", "%(count)d variants", count) % {"count": count} == text


def test_texts_of_django_and_of_the_theme_are_translated(db):
    page = Client(**GERMAN).get(f"{ROOT}login/").content.decode()

    assert "Passwort" in page
    assert "Anmelden" in page
    assert "Log in" not in page


@pytest.mark.django_db(transaction=True)
def test_invitation_is_in_the_language_of_the_person_who_invites(shop, mail_dir):
    owner = make_staff(shop, **GERMAN)

    owner.fill("accounts/staffinvitation/add/", email="bea@example.com", role="manager")
    assert run_due()

    (html,) = [path.read_text() for path in mail_dir.glob("*.html")]
    assert "lädt Sie als Manager in sein Team ein" in html


def test_password_reset_is_in_the_persons_language_or_else_that_of_the_page(db, mail_dir):
    make_user(username="bea", email="ada@example.com", language="cs")
    make_user(username="cleo", email="cleo@example.com")

    for email in ("ada@example.com", "cleo@example.com"):
        send_password_reset(email=email, request_id="1", language="de")

    texts = "".join(path.read_text() for path in sorted(mail_dir.glob("*.html")))
    assert "Někdo požádal o nové heslo k vašemu přihlášení bea" in texts
    assert "Jemand hat ein neues Passwort für Ihren Zugang cleo" in texts


def test_texts_outside_of_the_back_office_are_in_english(db):
    refusal = ValidationFailed()

    assert translation.get_language() == "en"
    assert refusal.detail == "The request has fields that can't be accepted"
    with translation.override("de"):
        assert refusal.detail == "The request has fields that can't be accepted"
        assert explain(refusal) == "Einige Felder können so nicht angenommen werden"


def summaries_of(client):
    page = client.get("backoffice/staffaction/").content.decode()
    return re.findall(r"field-what[^>]*>\s*(.*?)\s*</td>", page, re.DOTALL)


@pytest.mark.parametrize(
    ("summary", "shown"),
    [
        ("Stock changed by -4; 12 on hand.", "Bestand geändert um -4; 12 auf Lager."),
        ("Version 3 is used again.", "Version 3 wird wieder verwendet."),
        ("order.confirmation de-AT saved", "order.confirmation de-AT gespeichert"),
        ("rotated; its successor is 12", "ersetzt; der Nachfolger ist 12"),
        ("issued", "ausgestellt"),
        ("fulfilled", "versendet"),
        ("commerce.email.reply_to, commerce.email.smtp_host", "Antworten an, SMTP-Server"),
        ("changed Title, Description", "geändert: Titel, Beschreibung"),
        ("Someone's own words 100%", "Someone&#x27;s own words 100%"),
    ],
)
def test_summaries_are_shown_in_the_readers_language(shop, summary, shown):
    german = make_staff(shop, **GERMAN)
    with shop.scope():
        StaffAction.objects.create(
            username="ann", kind="changed", subject="catalog.product", subject_id=1, summary=summary
        )

    assert summaries_of(german) == [shown]


def test_what_an_action_answers_is_kept_in_english_and_shown_in_the_readers_language(shop):
    german = make_staff(shop, **GERMAN)
    variant = factories.make_variant(shop, sku="MUG-1", stock=3)
    with shop.scope():
        level = InventoryLevel.objects.get(variant=variant)

    german.confirm(f"inventory/inventorylevel/{level.pk}/adjust/", delta="4", reason="count")

    with shop.scope():
        assert StaffAction.objects.get().summary == "Stock changed by +4; 7 on hand."
    assert summaries_of(german) == ["Bestand geändert um +4; 7 auf Lager."]


def test_settings_are_named_in_the_readers_language(shop):
    german = make_staff(shop, **GERMAN)

    page = german.get("configuration/accountsetting/")
    fields = page.context["form"].fields
    german.fill("configuration/accountsetting/", **{"commerce.checkout.session_ttl_minutes": "7"})
    changes = german.get("backoffice/staffaction/").content.decode()

    assert f">Einstellung {shop.id}<" in changes
    assert re.search(r"<label[^>]*>\s*Antworten an\s*</label>", page.content.decode())
    assert fields["commerce.email.reply_to"].help_text.endswith("<code>commerce.email.reply_to</code>")
    assert [str(title) for _value, title in fields["commerce.checkout.reserve_at"].choices] == [
        "Die der Installation: Sobald der Checkout angelegt wird",
        "Sobald der Checkout angelegt wird",
        "Sobald die Zahlung beginnt",
    ]
    assert "Minuten für einen Checkout: - → 7" in changes


def test_every_setting_has_a_title():
    assert [setting.name for setting in known_settings().values() if not setting.title] == []


def test_scopes_are_named_in_the_readers_language(shop):
    german = make_staff(shop, **GERMAN)
    key = make_key(shop)
    role = make_role(shop, "read_orders", "write_vouchers")
    reader = make_staff(shop, role=str(make_role(shop, "read_staff", name="Reader").pk), **GERMAN)

    dialog = german.get("accounts/apikey/issue/").content.decode()
    shown = german.get(f"accounts/apikey/{key.pk}/change/").content.decode()
    listed = german.get("accounts/staffrole/").content.decode()
    read = reader.get(f"accounts/staffrole/{role.pk}/change/").content.decode()

    titles = "Bestellungen: lesen; Geschenkkarten: lesen und ändern"
    assert '<option value="read_orders">Bestellungen: lesen</option>' in dialog
    assert titles in shown
    assert titles in listed
    assert titles in read


def make_key(shop):
    with shop.scope():
        return ApiKey.objects.create(
            workspace_id=shop.workspace_id,
            account_id=shop.id,
            kind="admin",
            name="CI",
            prefix="ck_1",
            secret_hash=b"x" * 32,
            scopes=["read_orders", "write_vouchers"],
        )

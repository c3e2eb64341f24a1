"""Which template of the account or the platform a message uses."""

import pytest

from commerce.outbox.worker import run_due
from emails.errors import TemplateNotFound
from emails.own_templates.queries import find_current_template
from tests.emails.own_templates.conftest import KEY


def subject_for(shop, locale, *, default_locale="en-US", template_key=KEY):
    with shop.scope():
        source = find_current_template(template_key, locale=locale, default_locale=default_locale)
    return source.subject


@pytest.mark.parametrize(
    ("own", "locale", "found"),
    [
        (["en"], "en-US", "own en"),
        (["en"], "de-DE", "Ihre Bestellung"),
        (["de"], "de-AT", "own de"),
        (["de", "de-AT"], "de-AT", "own de-AT"),
        (["de-AT"], "de-DE", "Ihre Bestellung"),
        (["en-US"], "fr-FR", "own en-US"),
        (["fr"], "fr-FR", "own fr"),
        ([], "fr-FR", "Your order"),
    ],
)
def test_own_template_goes_before_the_platforms_at_each_step_of_the_locales(
    shop, make_version, own, locale, found
):
    for name in own:
        make_version(shop, locale=name, subject=f"own {name}")

    assert subject_for(shop, locale).startswith(found)


def test_newest_version_is_in_force(shop, make_version):
    for number in (1, 2, 3):
        make_version(shop, number=number, subject=f"Version {number}")

    assert subject_for(shop, "en") == "Version 3"


def test_reset_template_is_passed_over(shop, make_version):
    make_version(shop, locale="de-AT")
    make_version(shop, locale="de-AT", number=2, kind="reset")
    make_version(shop, locale="de", subject="own de")

    assert subject_for(shop, "de-AT") == "own de"


def test_template_of_another_account_is_never_taken(shop, other_shop, make_version):
    make_version(other_shop, locale="en", subject="Theirs")

    assert subject_for(shop, "en").startswith("Your order")


def test_template_of_an_unknown_key_is_not_found(shop):
    with pytest.raises(TemplateNotFound):
        subject_for(shop, "en", template_key="unheard.of")


@pytest.mark.parametrize("number", [0, 4])
def test_template_takes_one_statement(shop, make_version, django_assert_num_queries, number):
    for index in range(number):
        make_version(shop, number=index + 1)

    with shop.scope(), django_assert_num_queries(1):
        find_current_template(KEY, locale="de-AT", default_locale="en-US")


def test_message_is_made_of_the_accounts_own_template(shop, renderer, make_version, mail_dir, enqueue_email):
    make_version(shop, locale="de", subject="Von {{ account.name }}", body_text="Text {{ locale }}")
    enqueue_email(shop, locale="de-AT")

    run_due()

    (sent,) = shop.admin.get("email/deliveries.json").json()["email_deliveries"]
    assert (sent["subject"], sent["locale"]) == (f"Von {shop.handle.title()}", "de-AT")
    shown = shop.admin.get(f"email/deliveries/{sent['id']}.json?include_body=true").json()
    assert shown["email_delivery"]["text"] == "Text de"

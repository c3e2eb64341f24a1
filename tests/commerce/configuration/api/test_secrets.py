"""A stored secret can't be redirected: changing its destination requires entering it again."""

import threading

import pytest
from django.db import connections

from commerce.configuration.models import AccountSetting
from commerce.configuration.operations import change_settings
from commerce.configuration.registry import known_settings
from commerce.errors import ValidationFailed
from tests.commerce.refusals import field_errors

EMAIL = "commerce.email."
PASSWORD, API_KEY = f"{EMAIL}smtp_password", f"{EMAIL}api_key"
SMTP = {
    f"{EMAIL}provider": "smtp",
    f"{EMAIL}smtp_host": "mail.example.com",
    f"{EMAIL}smtp_port": 2525,
    f"{EMAIL}smtp_security": "tls",
    f"{EMAIL}smtp_username": "shop",
    PASSWORD: "hush",
}
RESEND = {f"{EMAIL}provider": "resend", API_KEY: "re_1"}
# The stored settings, the change that an attacker sends, and the secret that it would reveal.
MOVES = [
    (SMTP, {f"{EMAIL}smtp_host": "mail.thief.example"}, PASSWORD),
    (SMTP, {f"{EMAIL}smtp_host": None}, PASSWORD),
    (SMTP, {f"{EMAIL}smtp_port": 25}, PASSWORD),
    (SMTP, {f"{EMAIL}smtp_port": None}, PASSWORD),
    (SMTP, {f"{EMAIL}smtp_security": "none"}, PASSWORD),
    (SMTP, {f"{EMAIL}smtp_security": None}, PASSWORD),
    (SMTP, {f"{EMAIL}smtp_host": "mail.thief.example", PASSWORD: "********"}, PASSWORD),
]
# These reveal no secret: it goes to a service that the product has chosen, or to the server that it was entered for.
HARMLESS = [
    (SMTP, {f"{EMAIL}smtp_username": "other"}),
    (SMTP, {f"{EMAIL}smtp_username": None}),
    (SMTP, {f"{EMAIL}provider": None}),
    (RESEND, {f"{EMAIL}provider": "mailgun"}),
    (RESEND, {f"{EMAIL}provider": "smtp"}),
    (RESEND, {f"{EMAIL}provider": None}),
]


def put(shop, changes):
    return shop.admin.put("settings.json", {"settings": changes})


def stored(shop):
    with shop.scope():
        return dict(AccountSetting.objects.values_list("name", "value"))


@pytest.mark.parametrize(("before", "changes", "secret"), MOVES)
def test_destination_is_not_changed_while_its_secret_stays(shop, before, changes, secret):
    put(shop, before)

    answer = put(shop, changes)

    assert field_errors(answer) == [(f"settings.{secret}", "secret_required")]
    assert stored(shop) == before


@pytest.mark.parametrize("given", ["hush", "", None])
@pytest.mark.parametrize(("before", "changes", "secret"), MOVES)
def test_destination_is_changed_with_its_secret_given_or_taken_away(shop, before, changes, secret, given):
    put(shop, before)

    answer = put(shop, changes | {secret: given})

    assert answer.status_code == 200
    after = {name: value for name, value in (before | changes | {secret: given}).items() if value is not None}
    assert stored(shop) == after


@pytest.mark.parametrize(("before", "changes"), HARMLESS)
def test_other_settings_are_changed_without_the_secret(shop, before, changes):
    put(shop, before)

    answer = put(shop, changes)

    assert answer.status_code == 200
    assert stored(shop) == {name: value for name, value in (before | changes).items() if value is not None}


@pytest.mark.parametrize("before", [SMTP, RESEND])
def test_what_was_read_can_be_sent_back(shop, before):
    put(shop, before)

    answer = put(shop, shop.admin.get("settings.json").json()["settings"])

    assert answer.status_code == 200
    assert stored(shop) == stored(shop) | before


def test_server_may_be_changed_before_there_is_a_secret(shop):
    put(shop, {f"{EMAIL}smtp_host": "mail.example.com"})

    assert put(shop, {f"{EMAIL}smtp_host": "smtp.example.com"}).status_code == 200


def test_secrets_that_are_sent_nowhere_need_no_destination():
    """Keys of signatures are sent to nobody, and API keys only to addresses that no account can change."""
    secrets = {
        name for name, setting in known_settings().items() if setting.is_secret and not setting.sent_by
    }

    assert secrets == {
        "commerce.email.api_key",
        "commerce.payments.stripe_secret_key",
        "commerce.payments.stripe_webhook_secret",
        "commerce.email.provider_webhook_secret",
    }


@pytest.mark.django_db(transaction=True)
def test_destination_that_is_changed_at_once_with_its_secret_waits_and_is_refused(shop):
    refused = []

    def move():
        try:
            with shop.scope():
                change_settings(changes={f"{EMAIL}smtp_host": "mail.thief.example"})
        except ValidationFailed as error:
            refused.extend(one.code for one in error.errors)
        finally:
            connections.close_all()

    thief = threading.Thread(target=move)
    with shop.scope():
        change_settings(changes=SMTP)
        thief.start()
        # Long enough for a request that doesn't wait to finish. One that waits isn't affected.
        thief.join(0.5)
    thief.join(30)

    assert refused == ["secret_required"]
    assert stored(shop) == SMTP

import pytest

from commerce.configuration.operations import change_settings
from commerce.configuration.queries import read_own_settings
from commerce.configuration.registry import installation_value
from commerce.outbox.worker import run_due
from emails.mail_settings import read_mail_settings
from emails.models import EmailDelivery
from tests.commerce.refusals import field_errors
from tests.factories import make_customer


@pytest.fixture
def installation(monkeypatch):
    """Set environment variables, named without their prefix."""

    def set_values(**values):
        for name, value in values.items():
            monkeypatch.setenv(f"COMMERCE_EMAIL_{name.upper()}", value)
        installation_value.cache_clear()

    yield set_values
    installation_value.cache_clear()


def settings_with(shop, **own):
    with shop.scope():
        change_settings(changes={f"commerce.email.{name}": value for name, value in own.items()})
        return read_mail_settings()


def test_settings_are_the_installations_where_the_account_has_none(shop, installation):
    installation(provider="resend", api_key="re_1", reply_to="help@example.com")

    found = settings_with(shop)

    assert (found.provider, found.api_key, found.reply_to) == ("resend", "re_1", "help@example.com")


def test_settings_of_the_account_win(shop, other_shop, installation):
    installation(provider="resend", api_key="re_1", reply_to="help@example.com")

    found = settings_with(shop, api_key="re_2", reply_to="shop@example.com")

    assert (found.provider, found.api_key, found.reply_to) == ("resend", "re_2", "shop@example.com")
    assert settings_with(other_shop).api_key == "re_1"


def test_reply_address_alone_keeps_the_installations_credentials(shop, installation):
    installation(provider="resend", api_key="re_1")

    assert settings_with(shop, reply_to="shop@example.com").api_key == "re_1"


def test_same_provider_keeps_the_installations_credentials(shop, installation):
    installation(provider="resend", api_key="re_1")

    assert settings_with(shop, provider="resend").api_key == "re_1"


def test_key_of_the_installation_does_not_go_to_a_provider_that_the_account_has_chosen(shop, installation):
    installation(provider="resend", api_key="re_1")

    found = settings_with(shop, provider="postmark")

    assert (found.provider, found.api_key) == ("postmark", "")


def test_password_of_the_installation_does_not_go_to_a_server_that_the_account_names(shop, installation):
    installation(
        provider="smtp",
        smtp_host="mail.example.com",
        smtp_port="2525",
        smtp_username="us",
        smtp_password="pw",
    )

    found = settings_with(shop, smtp_host="evil.example.com")

    assert (found.provider, found.smtp_host, found.smtp_port) == ("smtp", "evil.example.com", 587)
    assert (found.smtp_username, found.smtp_password) == ("", "")


@pytest.mark.parametrize("value", ["nobody", "a@b@c", "x" * 250 + "@example.com", 1, True, "a@example.com\n"])
def test_reply_address_that_is_none_is_refused(shop, value):
    response = shop.admin.put("settings.json", {"settings": {"commerce.email.reply_to": value}})

    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "settings.commerce.email.reply_to"


def test_secrets_are_shown_masked(shop):
    body = {"settings": {"commerce.email.api_key": "re_1", "commerce.email.smtp_password": "pw"}}
    shop.admin.put("settings.json", body)

    shown = shop.admin.get("settings.json").json()["settings"]
    assert shown["commerce.email.api_key"] == shown["commerce.email.smtp_password"] == "********"


def test_provider_that_the_account_has_chosen_sends(shop, renderer, resend, enqueue_email):
    settings_with(shop, provider="resend", api_key="re_2", reply_to="shop@example.com")
    enqueue_email(shop)

    run_due()

    (request,) = resend.requests
    assert request["headers"]["Authorization"] == "Bearer re_2"
    assert request["message"]["reply_to"] == ["shop@example.com"]
    with shop.scope():
        delivery = EmailDelivery.objects.get()
    assert (delivery.provider, delivery.provider_message_id) == ("resend", *resend.ids.values())


def test_server_of_the_installation_may_be_private_and_one_of_the_account_may_not(
    shop, other_shop, installation, settings
):
    installation(provider="smtp", smtp_host="127.0.0.1")

    assert settings_with(other_shop, reply_to="shop@example.com").allow_private
    assert not settings_with(shop, smtp_host="127.0.0.1").allow_private
    settings.OUTSIDE_ALLOW_PRIVATE = True
    assert settings_with(shop, smtp_host="127.0.0.1").allow_private


def test_only_a_server_that_the_account_names_must_not_be_the_installations(
    shop, other_shop, installation, settings
):
    installation(provider="smtp", smtp_host="Mail.example.com.")

    assert settings_with(other_shop, reply_to="shop@example.com").must_not_reach == ""
    # It is the installation's server under the same name, so it sends for verified domains only.
    assert settings_with(other_shop, smtp_host="mail.example.com").must_not_reach == ""
    assert not settings_with(other_shop, smtp_host="mail.example.com").may_send_as_anybody
    assert settings_with(shop, smtp_host="192.0.2.1").must_not_reach == "mail.example.com"
    assert settings_with(shop, smtp_host="192.0.2.1").may_send_as_anybody
    settings.EMAIL_TRUST_SENDER_DOMAINS = True
    assert settings_with(shop, smtp_host="192.0.2.1").must_not_reach == ""


def test_folder_of_the_installation_is_chosen_only_where_the_installation_uses_it(shop, installation):
    choice = {"settings": {"commerce.email.provider": "local", "commerce.email.reply_to": "a@example.com"}}
    installation(provider="smtp", smtp_host="mail.example.com")
    refused = shop.admin.put("settings.json", choice)
    with shop.scope():
        kept = read_own_settings()
    installation(provider="local")

    accepted = shop.admin.put("settings.json", choice)

    assert field_errors(refused) == [("settings.commerce.email.provider", "invalid_choice")]
    assert "local" not in refused.json()["errors"][0]["detail"]
    assert kept == {}
    assert accepted.status_code == 200
    with shop.scope():
        assert read_own_settings() == choice["settings"]


def test_folder_chosen_before_gets_no_message(shop, installation, renderer, mail_dir, enqueue_email):
    settings_with(shop, provider="local")
    installation(provider="resend", api_key="re_1")
    dispatch = enqueue_email(shop)

    run_due()

    with shop.scope():
        dispatch.refresh_from_db()
        assert not EmailDelivery.objects.exists()
    assert (dispatch.status, dispatch.attempts) == ("pending", 1)
    assert "commerce.email.provider is local" in dispatch.last_error
    assert not mail_dir.exists()


def test_key_that_the_provider_repeats_is_not_kept(shop, renderer, resend, enqueue_email):
    settings_with(shop, provider="resend", api_key="re_s3cret")
    resend.answers, resend.words = [401], "Who is re_s3cret?"
    dispatch = enqueue_email(shop)

    run_due()

    with shop.scope():
        dispatch.refresh_from_db()
    assert "Who is ***?" in dispatch.last_error
    assert "s3cret" not in dispatch.last_error


def test_key_that_the_provider_repeats_is_not_told_to_clients(shop, renderer, resend):
    settings_with(shop, provider="resend", api_key="re_s3cret")
    resend.answers, resend.words = [401], "Who is re_s3cret?"
    customer = make_customer(shop, email="ann@example.com")

    response = shop.admin.post(
        "email/send.json",
        {"template_key": "order.confirmation", "customer_id": customer.pk, "idempotency_key": "one"},
    )

    assert response.status_code == 502
    assert "Who is ***?" in response.json()["detail"]
    assert "s3cret" not in response.content.decode()


@pytest.mark.parametrize("repeated", ["p/w+s3cret", "p%2Fw%2Bs3cret", "AGhhdHMAcC93K3MzY3JldA=="])
def test_password_is_found_in_every_form_in_which_it_is_sent(shop, repeated):
    found = settings_with(shop, provider="smtp", smtp_username="hats", smtp_password="p/w+s3cret")

    assert found.remove_credentials(f"535 {repeated}?") == "535 ***?"


def test_settings_without_credentials_hide_nothing(shop):
    assert settings_with(shop).remove_credentials("AAA= is no secret") == "AAA= is no secret"

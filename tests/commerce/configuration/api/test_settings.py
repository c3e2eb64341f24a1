"""settings.json."""

import pytest

from commerce.configuration.models import AccountSetting
from commerce.configuration.queries import read_setting
from tests.commerce.refusals import field_errors, refusal

RESERVE_AT = "commerce.checkout.reserve_at"
TTL = "commerce.checkout.session_ttl_minutes"
SECRET = "commerce.email.provider_webhook_secret"

DEFAULTS = {
    RESERVE_AT: "checkout_enter",
    TTL: 60,
    "commerce.payments.bank_account_holder": "",
    "commerce.payments.bank_account_iban": "",
    "commerce.payments.bank_account_bic": "",
    "commerce.payments.bank_account_note": "",
    "commerce.payments.test_card": False,
    "commerce.payments.stripe_secret_key": "",
    "commerce.payments.stripe_webhook_secret": "",
    SECRET: "",
    "commerce.email.provider": "local",
    "commerce.email.api_key": "",
    "commerce.email.smtp_host": "",
    "commerce.email.smtp_port": 587,
    "commerce.email.smtp_security": "starttls",
    "commerce.email.smtp_username": "",
    "commerce.email.smtp_password": "",
    "commerce.email.reply_to": "",
}


def own_settings(shop):
    with shop.scope():
        return dict(AccountSetting.objects.values_list("name", "value"))


def put(shop, **changes):
    return shop.admin.put("settings.json", {"settings": changes})


def test_get_settings_shows_every_name_with_its_effective_value(shop, other_shop):
    put(other_shop, **{TTL: 15})

    answer = shop.admin.get("settings.json")

    assert answer.status_code == 200
    assert answer.json() == {"settings": DEFAULTS}


def test_put_settings_changes_only_what_is_sent(shop):
    put(shop, **{TTL: 15})

    answer = put(shop, **{RESERVE_AT: "payment_start", "commerce.payments.test_card": True})

    assert answer.status_code == 200
    expected = {TTL: 15, RESERVE_AT: "payment_start", "commerce.payments.test_card": True}
    assert answer.json() == {"settings": DEFAULTS | expected}
    assert own_settings(shop) == expected


def test_put_settings_again_replaces_the_value(shop):
    put(shop, **{TTL: 15})

    answer = put(shop, **{TTL: 20})

    assert answer.json()["settings"][TTL] == 20


def test_put_null_takes_the_accounts_own_value_away(shop):
    put(shop, **{TTL: 15, RESERVE_AT: "payment_start"})

    answer = put(shop, **{TTL: None, "commerce.payments.test_card": None})

    assert answer.json() == {"settings": DEFAULTS | {RESERVE_AT: "payment_start"}}
    assert own_settings(shop) == {RESERVE_AT: "payment_start"}


def test_put_nothing_changes_nothing(shop):
    assert put(shop).json() == {"settings": DEFAULTS}


def test_a_secret_is_masked_and_survives_being_sent_back(shop):
    answer = put(shop, **{SECRET: "whsec_123"})
    put(shop, **answer.json()["settings"])

    assert answer.json()["settings"][SECRET] == "********"
    with shop.scope():
        assert read_setting(SECRET) == "whsec_123"


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("commerce.checkout.nothing", 1, "unknown_setting"),
        ("commerce.checkout.nothing", None, "unknown_setting"),
        (RESERVE_AT, "later", "invalid_choice"),
        (RESERVE_AT, 1, "invalid_choice"),
        (RESERVE_AT, ["checkout_enter"], "invalid_choice"),
        (TTL, 0, "out_of_range"),
        (TTL, 1441, "out_of_range"),
        (TTL, "60", "invalid"),
        (TTL, True, "invalid"),
        (TTL, 60.0, "invalid"),
        ("commerce.payments.test_card", "true", "invalid"),
        ("commerce.payments.test_card", 1, "invalid"),
        (SECRET, 5, "invalid"),
        (SECRET, "a" * 256, "invalid"),
        (SECRET, "a\nb", "invalid"),
        ("commerce.email.api_key", "ключ", "invalid"),
        ("commerce.email.api_key", "a b", "invalid"),
        ("commerce.payments.stripe_secret_key", "sk_é", "invalid"),
    ],
)
def test_put_settings_refuses_unknown_names_and_bad_values(shop, name, value, code):
    answer = put(shop, **{name: value, "commerce.payments.test_card": True} | {name: value})

    assert field_errors(answer) == [(f"settings.{name}", code)]
    assert own_settings(shop) == {}


def test_password_of_a_mail_server_may_have_any_letters(shop):
    login = {"commerce.email.smtp_username": "mé", "commerce.email.smtp_password": "pässwörd 1"}

    assert put(shop, **login).status_code == 200
    assert own_settings(shop) == login


def test_put_settings_names_every_mistake(shop):
    answer = put(shop, **{TTL: 0, "nothing": 1})

    assert field_errors(answer) == [
        (f"settings.{TTL}", "out_of_range"),
        ("settings.nothing", "unknown_setting"),
    ]


@pytest.mark.parametrize(
    ("body", "code"), [({}, "required"), ({"settings": None}, "null"), ({"settings": [1]}, "invalid")]
)
def test_put_settings_refuses_another_shape(shop, body, code):
    assert field_errors(shop.admin.put("settings.json", body)) == [("settings", code)]


def test_settings_need_the_scope_of_settings(shop):
    reader = shop.client_with("read_settings")

    assert reader.get("settings.json").status_code == 200
    assert refusal(reader.put("settings.json", {})) == (403, "insufficient_scope")
    assert refusal(shop.client_with("write_accounts").get("settings.json")) == (403, "insufficient_scope")


@pytest.mark.parametrize("number", [1, 3])
def test_put_settings_takes_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    changes = {TTL: 15, RESERVE_AT: "payment_start", "commerce.payments.test_card": True}
    shop.admin.get("settings.json")

    with django_assert_num_queries(7):
        put(shop, **dict(list(changes.items())[:number]))

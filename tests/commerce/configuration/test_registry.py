"""An account's own value wins over the environment, which wins over the default."""

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured

from commerce.configuration.models import AccountSetting
from commerce.configuration.queries import read_setting, read_settings
from commerce.configuration.registry import InvalidValue, installation_value, known_settings
from tests.commerce.refusals import refused_constraint

RESERVE_AT = "commerce.checkout.reserve_at"
TTL = "commerce.checkout.session_ttl_minutes"


@pytest.fixture
def environment(monkeypatch):
    """Set a variable as if the process had been started with it."""

    def set_variable(name: str, value: str) -> None:
        monkeypatch.setenv(name, value)
        installation_value.cache_clear()

    yield set_variable
    installation_value.cache_clear()


@pytest.mark.parametrize("setting", known_settings().values(), ids=known_settings())
def test_every_default_is_a_value_that_its_setting_takes(setting):
    assert setting.check(setting.default) == setting.default


def test_the_environment_wins_over_the_default(shop, environment):
    environment("COMMERCE_CHECKOUT_RESERVE_AT", "payment_start")

    with shop.scope():
        assert read_setting(RESERVE_AT) == "payment_start"


def test_an_accounts_own_value_wins_over_the_environment(shop, other_shop, environment):
    environment("COMMERCE_CHECKOUT_SESSION_TTL_MINUTES", "90")
    with shop.scope():
        AccountSetting.objects.create(name=TTL, value=15)
        assert read_setting(TTL) == read_settings()[TTL] == 15

    with other_shop.scope():
        assert read_setting(TTL) == read_settings()[TTL] == 90


def test_a_false_of_the_account_wins_over_a_true_of_the_environment(shop, environment):
    environment("COMMERCE_PAYMENTS_TEST_CARD", "true")

    with shop.scope():
        assert read_setting("commerce.payments.test_card") is True
        AccountSetting.objects.create(name="commerce.payments.test_card", value=False)
        assert read_setting("commerce.payments.test_card") is False


def test_all_effective_values_in_one_statement(shop, django_assert_num_queries):
    with shop.scope(), django_assert_num_queries(1):
        assert read_settings().keys() == known_settings().keys()


def test_a_secret_may_be_in_a_file(environment, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("whsec_123\n")
    environment("COMMERCE_EMAIL_PROVIDER_WEBHOOK_SECRET_FILE", str(secret))

    assert installation_value("commerce.email.provider_webhook_secret") == "whsec_123"


def test_an_empty_variable_is_as_good_as_none(environment):
    environment("COMMERCE_CHECKOUT_SESSION_TTL_MINUTES", "")

    assert installation_value(TTL) == 60


@pytest.mark.parametrize(
    ("variable", "text", "name"),
    [
        ("COMMERCE_CHECKOUT_RESERVE_AT", "later", RESERVE_AT),
        ("COMMERCE_CHECKOUT_SESSION_TTL_MINUTES", "an hour", TTL),
        ("COMMERCE_CHECKOUT_SESSION_TTL_MINUTES", "99999999999", TTL),
        ("COMMERCE_PAYMENTS_TEST_CARD", "maybe", "commerce.payments.test_card"),
    ],
)
def test_a_bad_variable_is_refused_and_reported_at_the_start(environment, variable, text, name):
    environment(variable, text)

    with pytest.raises(ImproperlyConfigured, match=variable):
        installation_value(name)
    assert [message.id for message in run_checks(tags=["configuration"])] == ["configuration.E001"]


@pytest.mark.parametrize(("text", "value"), [("TRUE", True), ("on", True), ("0", False), ("false", False)])
def test_a_flag_is_spelled_in_many_ways(text, value):
    assert known_settings()["commerce.payments.test_card"].parse(text) is value


def test_a_json_value_is_not_spelled():
    with pytest.raises(InvalidValue):
        known_settings()[TTL].check("60")


def test_an_account_has_one_value_of_a_name(shop):
    with shop.scope():
        AccountSetting.objects.create(name=TTL, value=15)
        again = AccountSetting.objects.create
        assert refused_constraint(lambda: again(name=TTL, value=20)) == "account_settings_name"

"""The account, its markets, keys, staff and settings."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.authentication import hash_secret
from accounts.models import Account, ApiKey, Market, User
from commerce.backoffice.models import StaffAction
from commerce.configuration.models import AccountSetting
from commerce.configuration.queries import read_setting
from commerce.configuration.registry import installation_value
from emails.sender_domains.models import SenderDomain
from tests.backoffice.clients import filled, make_user, messages_of
from tests.clients import ApiClient

MARKET = {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"}


def errors_of(answer):
    return answer.context["adminform"].form.errors


SETTINGS_PAGE = "configuration/accountsetting/"
PROVIDER = "commerce.email.provider"


def account_path(shop):
    return f"accounts/account/{shop.id}/change/"


def test_account_is_changed_and_its_version_rises(shop, owner):
    owner.fill(account_path(shop), name="New name", vat_number="DE136695976")

    with shop.scope():
        account = Account.objects.get(pk=shop.id)
    assert (account.name, account.vat_number, account.version) == ("New name", "DE136695976", 2)


def test_account_that_has_changed_meanwhile_is_not_overwritten(shop, owner):
    opened = filled(owner.get(account_path(shop)))
    owner.fill(account_path(shop), name="First")

    answer = owner.post(account_path(shop), opened | {"name": "Second"})

    assert errors_of(answer) == {
        "name": ["After you opened this page, somebody else changed “Name” to “First”. Check and save again."]
    }
    with shop.scope():
        assert Account.objects.get(pk=shop.id).name == "First"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("default_currency", "EURO"),
        ("default_locale", "german"),
        ("default_timezone", "Mars/Olympus"),
        ("country_code", "XX"),
        ("name", ""),
        ("email_from", "nobody"),
    ],
)
def test_account_field_that_the_api_refuses_is_a_form_error(shop, owner, field, value):
    answer = owner.fill(account_path(shop), **{field: value})

    assert list(errors_of(answer)) == [field]
    with shop.scope():
        assert Account.objects.get(pk=shop.id).version == 1


def test_operator_suspends_the_shop_and_lifts_it(shop, operator):
    operator.confirm(f"accounts/account/{shop.id}/suspend/")
    suspended = shop.admin.get("markets.json").status_code

    operator.confirm(f"accounts/account/{shop.id}/lift_suspension/")

    assert suspended == 403
    assert shop.admin.get("markets.json").status_code == 200


def test_page_of_the_account_offers_what_would_change_its_status(shop, operator):
    before = operator.get(account_path(shop)).context["actions_detail"]
    operator.confirm(f"accounts/account/{shop.id}/suspend/")
    after = operator.get(account_path(shop)).context["actions_detail"]

    assert [[action["title"] for action in actions] for actions in (before, after)] == [
        ["Suspend"],
        ["Lift suspension"],
    ]


def test_owner_can_not_suspend_the_shop(shop, owner):
    answer = owner.confirm(f"accounts/account/{shop.id}/suspend/")

    assert answer.status_code == 403
    assert shop.admin.get("markets.json").status_code == 200


def test_market_is_added(shop, owner):
    owner.fill("accounts/market/add/", **MARKET, domain="Shop.Example.AT")

    with shop.scope():
        market = Market.objects.get(handle="at")
    assert (market.currency, market.domain, market.prices_include_tax) == ("EUR", "shop.example.at", True)


def test_market_of_the_same_surface_is_a_form_error(shop, owner):
    same = {"currency": "EUR", "locale": "de-DE", "country_code": "DE"}

    answer = owner.fill("accounts/market/add/", **MARKET | same)

    assert errors_of(answer) == {
        "__all__": ["The account already has a market with this currency, locale, country and domain"]
    }
    with shop.scope():
        assert Market.objects.count() == 1


def test_domain_of_another_shops_market_is_taken_all_the_same(shop, make_shop, owner):
    make_shop(domain="shop.example.at")

    owner.fill("accounts/market/add/", **MARKET, domain="shop.example.at")

    with shop.scope():
        assert Market.objects.get(handle="at").domain == "shop.example.at"


def test_market_is_deactivated_and_activated_again(shop, owner):
    page = owner.act("accounts/market/", "deactivate", shop.market.pk)
    statuses = []
    for action in ("deactivate", "activate"):
        owner.act_on_all("accounts/market/", action, shop.market.pk)
        with shop.scope():
            statuses.append(Market.objects.get().status)

    assert [outcome.detail for outcome in page.context["accepted"]] == ["DE · EUR"]
    assert statuses == ["inactive", "active"]


def test_key_is_issued_and_its_secret_shown_once(shop, owner):
    answer = owner.confirm("accounts/apikey/issue/", kind="admin", name="CI", scopes=["read_markets"])

    secret = answer.context["secret"]
    assert secret in answer.content.decode()
    assert ApiClient.admin(secret, shop.handle).get("markets.json").status_code == 200
    assert ApiClient.admin(secret, shop.handle).get("products.json").status_code == 403
    assert secret not in owner.get("accounts/apikey/").content.decode()
    with shop.scope():
        key = ApiKey.objects.get(name="CI")
        assert StaffAction.objects.get().subject_id == key.pk
    assert bytes(key.secret_hash) == hash_secret(secret)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "workspace", "name": "CI"},
        {"kind": "admin", "name": ""},
        {"kind": "admin", "name": "CI", "scopes": ["read_everything"]},
        {"kind": "storefront", "name": "CI", "scopes": ["read_markets"]},
        {"kind": "admin", "name": "CI", "expires_at_0": "2020-01-01", "expires_at_1": "00:00"},
    ],
)
def test_key_that_can_not_be_issued_is_refused(shop, owner, fields):
    answer = owner.confirm("accounts/apikey/issue/", **fields)

    assert answer.context["form"].errors
    with shop.scope():
        assert ApiKey.objects.count() == 2


def test_issue_dialog_makes_no_key_when_it_is_opened(shop, owner):
    owner.get("accounts/apikey/issue/", kind="admin", name="CI", _form_submitted="on")

    with shop.scope():
        assert ApiKey.objects.count() == 2


def test_key_is_rotated_with_a_grace_period(shop, owner):
    secret = shop.issue("admin")
    with shop.scope():
        key = ApiKey.objects.get(secret_hash=hash_secret(secret))

    answer = owner.confirm(f"accounts/apikey/{key.pk}/rotate/", grace_seconds=3600)

    successor = ApiClient.admin(answer.context["secret"], shop.handle)
    assert successor.get("markets.json").status_code == 200
    with shop.scope():
        key.refresh_from_db()
    assert timedelta(minutes=59) < key.expires_at - timezone.now() <= timedelta(hours=1)


def test_key_is_revoked(shop, owner):
    secret = shop.issue("admin")
    with shop.scope():
        key = ApiKey.objects.get(secret_hash=hash_secret(secret))

    answer = owner.confirm(f"accounts/apikey/{key.pk}/revoke/")

    assert answer["HX-Refresh"] == "true"
    assert messages_of(answer) == ["The key has been revoked."]
    assert ApiClient.admin(secret, shop.handle).get("markets.json").status_code == 401


def test_revoked_key_can_not_be_rotated(shop, owner):
    with shop.scope():
        key = ApiKey.objects.filter(kind="admin").get()
    owner.confirm(f"accounts/apikey/{key.pk}/revoke/")

    answer = owner.confirm(f"accounts/apikey/{key.pk}/rotate/", grace_seconds=0)

    assert messages_of(answer)[-1] == "The key is revoked or expired."
    with shop.scope():
        assert ApiKey.objects.count() == 2


def test_settings_are_saved_and_taken_back(shop, owner):
    owner.fill(SETTINGS_PAGE, **{"commerce.checkout.session_ttl_minutes": "7"})
    with shop.scope():
        own = read_setting("commerce.checkout.session_ttl_minutes")

    owner.fill(SETTINGS_PAGE, **{"commerce.checkout.session_ttl_minutes": ""})

    assert own == 7
    with shop.scope():
        assert not AccountSetting.objects.exists()
        assert [row.summary for row in StaffAction.objects.all()] == [
            "commerce.checkout.session_ttl_minutes"
        ] * 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("commerce.checkout.session_ttl_minutes", "0"),
        ("commerce.checkout.session_ttl_minutes", "many"),
        ("commerce.checkout.reserve_at", "never"),
        ("commerce.payments.test_card", "perhaps"),
        ("commerce.email.provider_webhook_secret", "x" * 256),
        ("commerce.email.api_key", "ключ"),
        ("commerce.payments.stripe_secret_key", "sk_é"),
    ],
)
def test_setting_of_a_bad_value_is_a_form_error(shop, owner, name, value):
    answer = owner.fill(SETTINGS_PAGE, **{name: value})

    assert list(answer.context["form"].errors) == [name]
    with shop.scope():
        assert not AccountSetting.objects.exists()


@pytest.fixture
def smtp_installation(monkeypatch):
    monkeypatch.setenv("COMMERCE_EMAIL_PROVIDER", "smtp")
    installation_value.cache_clear()
    yield
    monkeypatch.undo()
    installation_value.cache_clear()


def list_choices(page):
    return [value for value, _ in page.context["form"].fields[PROVIDER].choices]


def test_local_provider_is_offered_where_the_installation_uses_it(shop, owner):
    assert "local" in list_choices(owner.get(SETTINGS_PAGE))

    owner.fill(SETTINGS_PAGE, **{PROVIDER: "local"})

    with shop.scope():
        assert AccountSetting.objects.get().value == "local"


def test_local_provider_is_not_offered_elsewhere(shop, owner, smtp_installation):
    assert "local" not in list_choices(owner.get(SETTINGS_PAGE))

    answer = owner.fill(SETTINGS_PAGE, **{PROVIDER: "local"})

    assert list(answer.context["form"].errors) == [PROVIDER]
    with shop.scope():
        assert not AccountSetting.objects.exists()


def test_local_provider_chosen_before_stays_until_it_is_changed(shop, owner, smtp_installation):
    with shop.scope():
        AccountSetting.objects.create(name=PROVIDER, value="local")

    saved = owner.fill(SETTINGS_PAGE, **{"commerce.checkout.session_ttl_minutes": "7"})
    with shop.scope():
        kept = dict(AccountSetting.objects.values_list("name", "value"))
    owner.fill(SETTINGS_PAGE, **{PROVIDER: "smtp"})

    assert saved.status_code == 302
    assert kept == {PROVIDER: "local", "commerce.checkout.session_ttl_minutes": 7}
    assert "local" not in list_choices(owner.get(SETTINGS_PAGE))


def test_mail_server_is_not_changed_while_its_password_stays(shop, owner):
    page, email = SETTINGS_PAGE, "commerce.email."
    before = {f"{email}smtp_host": "mail.example.com", f"{email}smtp_password": "hush"}
    owner.fill(page, **before)
    host = {f"{email}smtp_host": "mail.thief.example"}

    refused = owner.fill(page, **host)
    with shop.scope():
        kept = dict(AccountSetting.objects.values_list("name", "value"))
    given = owner.fill(page, **host, **{f"{email}smtp_password": "hush"})

    assert list(refused.context["form"].errors) == [f"{email}smtp_password"]
    assert kept == before
    assert given.status_code == 302
    with shop.scope():
        assert read_setting(f"{email}smtp_host") == "mail.thief.example"


def test_secret_setting_is_masked_and_kept_when_it_is_sent_back(shop, owner):
    name = "commerce.email.provider_webhook_secret"
    owner.fill(SETTINGS_PAGE, **{name: "hush"})

    page = owner.get(SETTINGS_PAGE)
    owner.post(SETTINGS_PAGE, filled(page))

    assert page.context["form"][name].value() == "********"
    with shop.scope():
        assert read_setting(name) == "hush"
        setting = AccountSetting.objects.get()
    for shown in (page, owner.get(f"configuration/accountsetting/{setting.pk}/change/")):
        assert shown.status_code == 200
        assert "hush" not in shown.content.decode()


def test_operator_adds_a_user(operator):
    passwords = {"password1": "battery staple", "password2": "battery staple", "usable_password": "true"}

    operator.fill("accounts/user/add/", username="bea", **passwords)

    assert User.objects.get(username="bea").check_password("battery staple")


def test_users_can_not_be_deleted(operator):
    user = make_user()

    answer = operator.post(f"accounts/user/{user.pk}/delete/", {"post": "yes"})

    assert answer.status_code == 403
    assert User.objects.filter(pk=user.pk).exists()


def test_market_is_not_given_a_domain_that_another_account_has_verified(shop, other_shop, owner):
    with other_shop.scope():
        SenderDomain.objects.create(domain="hats.example", token="t" * 32, verified_at=timezone.now())

    answer = owner.post("accounts/market/add/", MARKET | {"domain": "hats.example"})

    assert answer.status_code == 200
    assert "Another account has verified this domain" in answer.content.decode()
    with shop.scope():
        assert Market.objects.count() == 1

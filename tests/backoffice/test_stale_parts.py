"""Saving a page that was opened before somebody else changed parts of its rows: lists, amounts, prices, settings."""

from datetime import UTC, datetime

import pytest

from accounts.models import Market
from commerce.catalog.models import Variant, VariantPricing
from commerce.configuration.models import AccountSetting
from commerce.configuration.operations import change_settings
from discounts.models import Discount
from shipping.models import ShippingMethod, ShippingRate
from tests import factories
from tests.backoffice.clients import filled, make_staff
from tests.backoffice.stale import (
    SETTINGS_PAGE,
    conflict_message,
    errors_of,
    make_page_row,
    path_of,
    prefix_of,
    set_meanwhile,
    stored,
)
from tests.shops import make_shop
from tests.threads import run_threads

BOGO = {"buy": {"quantity": 2}, "get": {"quantity": 1}, "value_mode": "percentage", "value_amount": 5000}
TIERS = {"scope": "order", "tiers": [{"min_quantity": 9, "value_mode": "percentage", "value_amount": 500}]}
TTL = "commerce.checkout.session_ttl_minutes"


@pytest.mark.parametrize(
    ("type_", "field", "value"), [("buy_x_get_y", "bogo_config", BOGO), ("bulk_pricing", "bulk_tiers", TIERS)]
)
def test_parts_that_others_changed_stay(shop, owner, type_, field, value):
    before = value | {"max_applications": 1} if field == "bogo_config" else value | {"scope": "line"}
    discount = factories.make_discount(shop, title="Some", type=type_, code=None, **{field: before})
    sent = filled(owner.get(path_of(discount)))
    set_meanwhile(shop, discount, **{field: value})

    answer = owner.post(path_of(discount), sent | {"title": "Edited"})

    assert answer.status_code == 302, errors_of(answer)
    assert stored(shop, discount, "title", field) == {"title": "Edited", field: value}


def test_amount_is_not_edited_beside_a_unit_that_others_changed(shop, owner):
    discount = make_page_row(shop, Discount)
    sent = filled(owner.get(path_of(discount)))
    set_meanwhile(shop, discount, value_mode="fixed_amount", value_amount=5000, currency="EUR")

    refused = owner.post(path_of(discount), sent | {"value_amount": "30"})

    said = (
        "After you opened this page, somebody else changed “Currency” to “EUR”. Check and save again. "
        "After you opened this page, somebody else changed “Value mode” to “Fixed Amount”. Check and save again."
    )
    assert errors_of(refused) == {"value_amount": [said]}
    assert stored(shop, discount, "value_amount") == {"value_amount": 5000}
    assert filled(refused)["value_mode"] == "fixed_amount"
    assert owner.post(path_of(discount), filled(refused)).status_code == 302
    expected = {"value_mode": "fixed_amount", "value_amount": 3000, "currency": "EUR"}
    assert stored(shop, discount, *expected) == expected


def test_price_is_left_as_others_set_it_and_its_edit_is_refused(shop, owner):
    variant = make_page_row(shop, Variant)
    with shop.scope():
        price = VariantPricing.objects.get()
    sent = filled(owner.get(path_of(variant)))
    set_meanwhile(shop, price, price_cents=2500)

    left = owner.post(path_of(variant), sent | {"title": "Edited"})
    kept = stored(shop, price, "price_cents")
    refused = owner.post(path_of(variant), sent | {"title": "Half", "pricing-0-price_cents": "15.00"})

    assert left.status_code == 302
    assert kept == stored(shop, price, "price_cents") == {"price_cents": 2500}
    rows = refused.context["inline_admin_formsets"][0].formset
    assert rows.errors == [{"price_cents": [conflict_message("Price", "€25.00")]}]
    assert stored(shop, variant, "title") == {"title": "Edited"}


def test_row_that_others_deleted_is_left_out_and_its_edit_is_refused(shop, owner):
    method = make_page_row(shop, ShippingMethod)
    with shop.scope():
        gone = ShippingRate.objects.get()
        other = ShippingRate.objects.create(method=method, price_cents=900, currency="EUR", min_quantity=5)
    page = owner.get(path_of(method))
    sent, prefix = filled(page), prefix_of(page, ShippingRate)
    set_meanwhile(shop, gone, deleted_at=datetime.now(UTC))

    left = owner.post(path_of(method), sent | {f"{prefix}-1-price_cents": "8.00"})
    refused = owner.post(path_of(method), sent | {f"{prefix}-0-price_cents": "0.01"})
    marked = owner.post(path_of(method), filled(refused) | {f"{prefix}-0-DELETE": "on"})

    assert left.status_code == 302
    assert stored(shop, other, "price_cents") == {"price_cents": 800}
    errors = refused.context["inline_admin_formsets"][0].formset.errors
    assert errors[0] == {
        "__all__": ["Somebody else deleted this row. Mark it for deletion, then save again."]
    }
    assert marked.status_code == 302
    assert stored(shop, gone, "price_cents") == {"price_cents": 500}


@pytest.mark.parametrize("token", ["", "eyJ9.1.forged"])
def test_page_that_does_not_tell_what_it_showed_is_refused(shop, owner, token):
    market = make_page_row(shop, Market)
    sent = filled(owner.get(path_of(market)))

    answer = owner.post(path_of(market), sent | {"name": "Edited", "_shown": token})

    assert list(errors_of(answer)) == ["__all__"]
    assert stored(shop, market, "name") == {"name": market.name}


def test_forms_of_scripts_are_compared_with_what_is_stored(shop, owner):
    market = make_page_row(shop, Market)
    sent = filled(owner.get(path_of(market))) | {"name": "Edited"}
    settings = filled(owner.get(SETTINGS_PAGE)) | {TTL: "30"}
    del sent["_shown"], settings["_shown"]

    answers = [owner.post(path_of(market), sent), owner.post(SETTINGS_PAGE, settings)]

    assert [answer.status_code for answer in answers] == [302, 302]
    assert stored(shop, market, "name") == {"name": "Edited"}
    with shop.scope():
        assert dict(AccountSetting.objects.values_list("name", "value")) == {TTL: 30}


def test_setting_that_others_changed_stays_and_its_edit_is_refused(shop, owner):
    sent = filled(owner.get(SETTINGS_PAGE))
    with shop.scope():
        change_settings(changes={TTL: 20})

    owner.post(SETTINGS_PAGE, sent | {"commerce.email.reply_to": "help@example.com"})
    refused = owner.post(SETTINGS_PAGE, sent | {TTL: "30"})

    assert refused.context["form"].errors == {TTL: [conflict_message("Minutes for a checkout", 20)]}
    with shop.scope():
        own = dict(AccountSetting.objects.values_list("name", "value"))
    assert own == {TTL: 20, "commerce.email.reply_to": "help@example.com"}


def test_password_is_not_saved_for_a_host_that_others_set(shop, owner):
    host, password = "commerce.email.smtp_host", "commerce.email.smtp_password"
    with shop.scope():
        change_settings(changes={host: "mail.example.com", password: "first"})
    sent = filled(owner.get(SETTINGS_PAGE))
    with shop.scope():
        change_settings(changes={host: "mail.other.example", password: "second"})

    refused = owner.post(SETTINGS_PAGE, sent | {password: "third"})

    assert list(refused.context["form"].errors) == [password]
    with shop.scope():
        own = dict(AccountSetting.objects.values_list("name", "value"))
    assert own == {host: "mail.other.example", password: "second"}
    assert not {"first", "second"} & set(str(refused.context["form"].fingerprints).split("'"))


@pytest.mark.django_db(transaction=True)
def test_of_two_who_save_the_same_field_at_once_one_is_refused():
    shop = make_shop()
    clients = [make_staff(shop) for _ in range(4)]
    market = make_page_row(shop, Market)
    sent = filled(clients[0].get(path_of(market)))

    def save(number):
        return (
            clients[number]
            .browser.post(f"/backoffice/{path_of(market)}", sent | {"name": f"Name {number}"})
            .status_code
        )

    answers = run_threads(4, save)

    assert sorted(answers) == [200, 200, 200, 302]
    assert stored(shop, market, "name") == {"name": f"Name {answers.index(302)}"}


@pytest.mark.django_db(transaction=True)
def test_edits_of_different_fields_at_once_all_stay():
    shop = make_shop()
    clients = [make_staff(shop) for _ in range(3)]
    market = make_page_row(shop, Market)
    sent = filled(clients[0].get(path_of(market)))
    edits = [{"name": "Edited"}, {"locale": "cs-CZ"}, {"handle": "edited"}]

    def save(number):
        return (
            clients[number].browser.post(f"/backoffice/{path_of(market)}", sent | edits[number]).status_code
        )

    assert run_threads(3, save) == [302] * 3
    assert stored(shop, market, "name", "locale", "handle") == {
        "name": "Edited",
        "locale": "cs-CZ",
        "handle": "edited",
    }

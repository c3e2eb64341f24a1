"""The demo page and the confirmation emails that it links to."""

import json
import re

import pytest
from django.test import Client

from config.versions import CURRENT_VERSION
from tests import factories
from tests.storefront import checkout_in


@pytest.fixture
def browser() -> Client:
    return Client(raise_request_exception=False)


@pytest.fixture
def order_token(shop) -> str:
    variant = factories.make_variant(shop)
    return checkout_in("completed", shop, (variant, 1))["order_token"]


def read_setup(content):
    return json.loads(re.search(r'<script id="setup" type="application/json">(.*?)</script>', content)[1])


def test_page_is_not_there_unless_switched_on(browser, shop):
    for path in ("/demo/", f"/demo/{shop.handle}/orders/abc/email"):
        answer = browser.get(path)

        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_page_is_not_there_before_the_shops_are(browser, settings, tmp_path):
    settings.DEMO_SEED = str(tmp_path / "nothing.json")

    assert browser.get("/demo/").status_code == 404


def test_page_hands_out_storefront_keys_and_no_other_secret(browser, shop, open_demo):
    keys = open_demo(shop)

    answer = browser.get("/demo/")

    content = answer.content.decode()
    assert read_setup(content) == {
        "shops": [
            {
                "handle": shop.handle,
                "name": shop.handle,
                "key": keys["storefront"],
                "payment_methods": ["cod", "bank_transfer"],
            }
        ],
        "api": f"/storefront/{CURRENT_VERSION}",
    }
    assert keys["admin"] not in content
    assert keys["workspace"] not in content


def test_page_offers_the_payment_methods_that_are_available(browser, shop, open_demo, settings):
    open_demo(shop)
    settings.PAYMENT_METHODS = [name for name in settings.PAYMENT_METHODS if "CASH" not in name]
    card = {"commerce.payments.test_card": True}
    assert shop.admin.put("settings.json", {"settings": card}).status_code == 200

    (shown,) = read_setup(browser.get("/demo/").content.decode())["shops"]

    assert shown["payment_methods"] == ["bank_transfer", "test_card"]


def test_page_runs_no_inline_script_and_fetches_nothing_from_elsewhere(browser, shop, open_demo):
    open_demo(shop)

    answer = browser.get("/demo/")

    content = answer.content.decode()
    assert "script-src 'self';" in answer["Content-Security-Policy"]
    assert "default-src 'none';" in answer["Content-Security-Policy"]
    assert re.findall(r'(?:src|href|action)="([^"#]*)"', content) == [
        "data:,",
        "/static/demo/demo.css",
        "/static/demo/main.js",
    ]
    assert " style=" not in content
    assert " onclick=" not in content


def test_page_offers_every_country(browser, shop, open_demo):
    open_demo(shop)

    content = browser.get("/demo/").content.decode()

    assert content.count('<option value="') == 249
    assert '<option value="DE">Germany</option>' in content


def test_only_reading_is_allowed(browser, shop, open_demo):
    open_demo(shop)

    assert browser.post("/demo/").status_code == 405


def test_address_without_a_slash_leads_to_the_page(browser):
    assert browser.get("/demo")["Location"] == "/demo/"


def test_confirmation_is_shown_as_it_was_sent(
    browser, shop, open_demo, order_token, django_assert_num_queries
):
    open_demo(shop)
    order_id = shop.storefront.get(f"orders/{order_token}.json").json()["order"]["id"]
    sent = {"reference_type": "order", "reference_id": order_id}
    factories.make_delivery(shop, **sent, html="<p>Thank you</p>")
    factories.make_delivery(shop, **sent, template_key="order.shipped", html="<p>On its way</p>")

    # One for the order, one for its email, and four to open and close the account's scope.
    with django_assert_num_queries(6):
        answer = browser.get(f"/demo/{shop.handle}/orders/{order_token}/email")

    assert (answer.status_code, answer.content.decode()) == (200, "<p>Thank you</p>")
    assert "sandbox" in answer["Content-Security-Policy"]
    assert "script-src" not in answer["Content-Security-Policy"]


def test_confirmation_that_is_not_sent_yet_is_waited_for(browser, shop, open_demo, order_token):
    open_demo(shop)

    answer = browser.get(f"/demo/{shop.handle}/orders/{order_token}/email")

    assert answer.status_code == 202
    assert '<meta http-equiv="refresh" content="2">' in answer.content.decode()


def test_confirmation_of_an_unknown_order_or_shop_is_not_found(
    browser, shop, other_shop, open_demo, order_token
):
    open_demo(shop)

    for path in (f"{shop.handle}/orders/unknown", f"{other_shop.handle}/orders/{order_token}"):
        assert browser.get(f"/demo/{path}/email").status_code == 404


def test_confirmation_of_another_shops_order_is_not_found(browser, shop, other_shop, open_demo, order_token):
    open_demo(other_shop)

    assert browser.get(f"/demo/{other_shop.handle}/orders/{order_token}/email").status_code == 404

"""PUT checkouts/{token}/address.json."""

import pytest

from tests import factories
from tests.storefront import ADDRESS, enter_checkout

BILLING = {"address1": "Hauptstraße 2", "city": "Wien", "country_code": "AT"}


def put(shop, checkout, **body):
    return shop.storefront.put(f"checkouts/{checkout['token']}/address.json", body)


@pytest.fixture
def checkout(shop):
    return enter_checkout(shop, (factories.make_variant(shop), 1))


def test_address_is_set(shop, checkout):
    answer = put(
        shop,
        checkout,
        email="new@example.com",
        shipping_address=ADDRESS,
        billing_address=None,
        same_as_shipping=True,
        customer_note="Ring twice",
    )

    assert answer.status_code == 200
    shown = answer.json()["checkout"]
    assert (shown["phase"], shown["email"]) == ("address", "new@example.com")
    assert shown["shipping_address"] == ADDRESS
    assert (shown["billing_address"], shown["same_as_shipping"]) == (None, True)
    assert shown["customer_note"] == "Ring twice"


def test_note_may_be_null(shop, checkout):
    answer = put(shop, checkout, shipping_address=ADDRESS, customer_note=None)

    assert (answer.status_code, answer.json()["checkout"]["customer_note"]) == (200, "")


def test_billing_address_of_its_own(shop, checkout):
    answer = put(shop, checkout, shipping_address=ADDRESS, billing_address=BILLING, same_as_shipping=False)

    assert answer.json()["checkout"]["billing_address"] == BILLING


def test_address_may_be_sent_again(shop, checkout):
    put(shop, checkout, shipping_address=ADDRESS, same_as_shipping=True)

    answer = put(shop, checkout, shipping_address=ADDRESS | {"city": "Hamburg"}, same_as_shipping=True)

    assert answer.json()["checkout"]["shipping_address"]["city"] == "Hamburg"


@pytest.mark.parametrize("gap", [{"address1": ""}, {"city": "  "}, {"country_code": None}])
def test_incomplete_shipping_address_names_its_gap(shop, checkout, gap):
    answer = put(shop, checkout, shipping_address=ADDRESS | gap, same_as_shipping=True)

    assert (answer.status_code, answer.json()["code"]) == (422, "address_incomplete")
    (field,) = gap
    assert [error["field"] for error in answer.json()["errors"]] == [f"shipping_address.{field}"]
    shown = shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"]
    assert shown == checkout


def test_missing_addresses_name_every_field(shop, checkout):
    answer = put(shop, checkout, same_as_shipping=False)

    assert answer.json()["code"] == "address_incomplete"
    assert [error["field"] for error in answer.json()["errors"]] == [
        "shipping_address.address1",
        "shipping_address.city",
        "shipping_address.country_code",
        "billing_address.address1",
        "billing_address.city",
        "billing_address.country_code",
    ]


def test_unknown_country_and_wrong_types_are_refused(shop, checkout):
    unknown = put(shop, checkout, shipping_address=ADDRESS | {"country_code": "XX"})
    typed = put(shop, checkout, shipping_address=ADDRESS | {"city": 7})
    shapeless = put(shop, checkout, shipping_address=["Berlin"])

    assert [answer.status_code for answer in (unknown, typed, shapeless)] == [422, 422, 422]
    assert unknown.json()["errors"][0]["field"] == "shipping_address.country_code"
    assert typed.json()["errors"][0]["field"] == "shipping_address.city"

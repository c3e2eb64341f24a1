"""customers/{id}/notification_preferences.json."""

import pytest

from tests.commerce.refusals import field_errors, refusal
from tests.factories import make_customer

ALL = {"order.confirmation": True, "order.shipped": True, "order.cancelled": True, "voucher.issued": True}


def path_of(customer):
    return f"customers/{customer.pk}/notification_preferences.json"


def preferences_of(shop, customer):
    return shop.admin.get(path_of(customer)).json()["notification_preferences"]


def test_get_preferences_shows_every_template(shop):
    assert preferences_of(shop, make_customer(shop)) == ALL


def test_put_preferences_changes_only_what_is_sent(shop):
    customer = make_customer(shop)
    shop.admin.put(path_of(customer), {"notification_preferences": {"order.shipped": False}})

    answer = shop.admin.put(path_of(customer), {"notification_preferences": {"order.confirmation": False}})

    assert answer.status_code == 200
    expected = ALL | {"order.shipped": False, "order.confirmation": False}
    assert answer.json() == {"notification_preferences": expected}
    assert preferences_of(shop, customer) == expected


@pytest.mark.parametrize(
    ("preferences", "field", "code"),
    [
        ({"order.lost": True}, ".order.lost", "unknown_template"),
        ({"order.shipped": None}, ".order.shipped", "null"),
        ({"order.shipped": 0}, ".order.shipped", "invalid"),
        (["order.shipped"], "", "not_a_dict"),
        (None, "", "null"),
    ],
)
def test_put_preferences_refuses_bad_fields(shop, preferences, field, code):
    customer = make_customer(shop)

    answer = shop.admin.put(path_of(customer), {"notification_preferences": preferences})

    assert field_errors(answer) == [(f"notification_preferences{field}", code)]
    assert preferences_of(shop, customer) == ALL


def test_put_preferences_of_a_redacted_customer_is_refused(shop):
    customer = make_customer(shop)
    shop.admin.post(f"customers/{customer.pk}/redact.json")

    answer = shop.admin.put(path_of(customer), {"notification_preferences": {"order.shipped": False}})

    assert refusal(answer) == (409, "customer_redacted")
    assert preferences_of(shop, customer) == ALL


@pytest.mark.parametrize("method", ["get", "put"])
def test_preferences_of_a_customer_of_another_shop_are_not_found(shop, other_shop, method):
    assert getattr(shop.admin, method)(path_of(make_customer(other_shop))).status_code == 404

"""GET payments.json and payments/{id}.json."""

import pytest

from tests import factories
from tests.storefront import checkout_in


@pytest.fixture
def paid(shop):
    return checkout_in("completed", shop, (factories.make_variant(shop, price_cents=1000), 1))


def list_payments(shop, **filters):
    query = "&".join(f"{name}={value}" for name, value in filters.items())
    return shop.admin.get(f"payments.json?{query}").json()["payments"]


def test_payment_names_its_checkout_and_order(shop, paid):
    (payment,) = list_payments(shop)

    assert (
        payment.items()
        >= {
            "checkout_id": paid["id"],
            "order_id": paid["order_id"],
            "payment_method": "cod",
            "status": "succeeded",
            "amount_cents": paid["totals"]["amount_due_cents"],
            "currency": "EUR",
            "paid_late_at": None,
            "refunded_at": None,
        }.items()
    )
    assert shop.admin.get(f"payments/{payment['id']}.json").json() == {"payment": payment}


def test_payments_are_found_by_what_they_are_for(shop, paid):
    other = checkout_in("processing", shop, (factories.make_variant(shop), 1), payment_method="bank_transfer")

    newest, oldest = list_payments(shop)

    assert (newest["checkout_id"], newest["order_id"]) == (other["id"], None)
    assert list_payments(shop, order_id=paid["order_id"]) == [oldest]
    assert list_payments(shop, checkout_id=other["id"]) == [newest]
    assert (
        list_payments(shop, status="pending")
        == list_payments(shop, payment_method="bank_transfer")
        == [newest]
    )


def test_payments_of_another_shop_are_not_found(shop, other_shop, paid):
    (payment,) = list_payments(shop)

    assert list_payments(other_shop) == []
    assert other_shop.admin.get(f"payments/{payment['id']}.json").status_code == 404
    assert shop.client_with("read_products").get("payments.json").status_code == 403


@pytest.mark.parametrize("number", [1, 3])
def test_list_takes_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    for _ in range(number):
        checkout_in("processing", shop, (factories.make_variant(shop), 1))

    list_payments(shop)

    # Four of them are the scope's.
    with django_assert_num_queries(4 + 1):
        assert len(list_payments(shop)) == number

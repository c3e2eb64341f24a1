"""discount_redemptions.json: the ledger of uses, read-only."""

import pytest

from commerce.customers.models import Customer
from commerce.formats import timestamp
from discounts.models import Discount
from tests.commerce.refusals import field_errors, refusal
from tests.discounts.ledgers import make_redemption
from tests.rows import make_row


def list_ids(shop, query=""):
    answer = shop.admin.get(f"discount_redemptions.json{query}")
    return [entry["id"] for entry in answer.json()["discount_redemptions"]]


def test_ledger_answers_all_fields(shop):
    with shop.scope():
        customer = make_row(Customer)
    entry = make_redemption(
        shop, code="SUMMER", customer_id=customer.pk, customer_email="ann@example.com", amount_cents=500
    )

    answer = shop.admin.get("discount_redemptions.json")

    assert answer.status_code == 200
    assert answer.json() == {
        "discount_redemptions": [
            {
                "id": str(entry.pk),
                "kind": "redeem",
                "discount_id": str(entry.discount_id),
                "code": "SUMMER",
                "checkout_id": str(entry.checkout_id),
                "order_id": str(entry.order_id),
                "customer_id": str(customer.pk),
                "customer_email": "ann@example.com",
                "amount_cents": "500",
                "currency": "EUR",
                "created_at": timestamp(entry.created_at),
            }
        ],
        "next_cursor_id": None,
    }


def test_reversal_is_an_entry_of_its_own_below_zero(shop):
    redeemed = make_redemption(shop, amount_cents=500)
    reversed_ = make_redemption(
        shop,
        kind="reversal",
        amount_cents=-500,
        order_id=redeemed.order_id,
        discount_id=redeemed.discount_id,
    )

    entries = shop.admin.get("discount_redemptions.json").json()["discount_redemptions"]

    assert [(entry["id"], entry["kind"], entry["amount_cents"]) for entry in entries] == [
        (str(reversed_.pk), "reversal", "-500"),
        (str(redeemed.pk), "redeem", "500"),
    ]


@pytest.mark.parametrize("number", [1, 3])
def test_list_redemptions_newest_first_in_one_statement(shop, django_assert_num_queries, number):
    entries = [make_redemption(shop) for _ in range(number)]
    list_ids(shop)

    # Besides the list: the scope's setting, and in a test's own transaction a savepoint, its end, and the reset.
    with django_assert_num_queries(5):
        found = list_ids(shop)

    assert found == [str(entry.pk) for entry in reversed(entries)]


def test_list_redemptions_in_pages_without_those_of_others(shop, other_shop):
    make_redemption(other_shop)
    first, second = make_redemption(shop), make_redemption(shop)

    page = shop.admin.get("discount_redemptions.json?limit=1").json()
    rest = shop.admin.get(f"discount_redemptions.json?cursor_id={page['next_cursor_id']}").json()

    assert [entry["id"] for entry in page["discount_redemptions"]] == [str(second.pk)]
    assert [entry["id"] for entry in rest["discount_redemptions"]] == [str(first.pk)]


def test_list_redemptions_filtered(shop):
    with shop.scope():
        customer = make_row(Customer)
    one = make_redemption(shop, code="Summer", customer_id=customer.pk)
    make_redemption(shop, code="WINTER")

    queries = [f"discount_id={one.discount_id}", f"order_id={one.order_id}", f"customer_id={customer.pk}"]

    for query in [*queries, "code=summer", f"code=SUMMER&discount_id={one.discount_id}"]:
        assert (query, list_ids(shop, f"?{query}")) == (query, [str(one.pk)])
    assert list_ids(shop, f"?code=winter&discount_id={one.discount_id}") == []


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [
        ("discount_id=x", "discount_id", "invalid"),
        ("order_id=0", "order_id", "min_value"),
        ("code=%00", "code", "null_characters_not_allowed"),
    ],
)
def test_list_redemptions_refuses_a_bad_filter(shop, query, field, code):
    assert field_errors(shop.admin.get(f"discount_redemptions.json?{query}")) == [(field, code)]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_ledger_is_read_only(shop, method):
    answer = shop.admin.send(method, "discount_redemptions.json", {})

    assert refusal(answer) == (405, "method_not_allowed")


def test_redemption_leaves_its_discount_as_it_is(shop):
    entry = make_redemption(shop)

    shop.admin.delete(f"discounts/{entry.discount_id}.json")

    assert list_ids(shop, f"?discount_id={entry.discount_id}") == [str(entry.pk)]
    with shop.scope():
        assert Discount.objects.get(pk=entry.discount_id).status == "archived"

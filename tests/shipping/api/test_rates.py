"""POST and GET shipping/methods/{id}/rates.json, GET, PUT and DELETE shipping/rates/{id}.json."""

import pytest

from shipping.models import ShippingRate
from tests.factories import make_method, make_rate

RATE = {
    "price_cents": 490,
    "currency": "EUR",
    "display_name": "Up to 5 kg",
    "min_weight_grams": 0,
    "max_weight_grams": 5000,
    "min_subtotal_cents": 1000,
    "max_subtotal_cents": None,
    "min_quantity": 1,
    "max_quantity": 10,
}


def post_rate(shop, method, body):
    return shop.admin.post(f"shipping/methods/{method.pk}/rates.json", body)


def rate_rows(shop, method):
    with shop.scope():
        return list(ShippingRate.objects.filter(method=method, deleted_at=None).order_by("pk"))


def test_create_rate_answers_all_fields(shop):
    method = make_method(shop)

    response = post_rate(shop, method, RATE)

    assert response.status_code == 201
    rate = response.json()["rate"]
    assert rate.pop("created_at").endswith("Z")
    assert rate.pop("updated_at").endswith("Z")
    assert rate == RATE | {
        "id": rate["id"],
        "method_id": str(method.pk),
        "price_cents": "490",
        "min_subtotal_cents": "1000",
        "is_free": False,
        "is_automatic": False,
    }


def test_create_rate_of_0_is_free_and_open(shop):
    response = post_rate(shop, make_method(shop), {"price_cents": 0, "currency": "eur"})

    rate = response.json()["rate"]
    assert (rate["is_free"], rate["currency"], rate["display_name"]) == (True, "EUR", None)
    assert {rate[name] for name in RATE if name.startswith(("min_", "max_"))} == {None}


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({"price_cents": -1}, [("price_cents", "min_value")]),
        ({"price_cents": 2**53}, [("price_cents", "max_value")]),
        ({"price_cents": None}, [("price_cents", "null")]),
        ({"price_cents": "4.90"}, [("price_cents", "invalid")]),
        ({"currency": "EURO"}, [("currency", "unknown_currency")]),
        ({"display_name": ""}, [("display_name", "blank")]),
        ({"display_name": 5}, [("display_name", "invalid")]),
        ({"max_weight_grams": True}, [("max_weight_grams", "invalid")]),
        ({"max_weight_grams": 2**53}, [("max_weight_grams", "max_value")]),
        ({"min_quantity": -1}, [("min_quantity", "min_value")]),
        ({"min_weight_grams": 5001}, [("min_weight_grams", "above_max")]),
        (
            {"max_subtotal_cents": 999, "max_quantity": 0},
            [("min_subtotal_cents", "above_max"), ("min_quantity", "above_max")],
        ),
    ],
)
def test_create_rate_refuses_a_bad_field(shop, changes, errors):
    method = make_method(shop)

    response = post_rate(shop, method, RATE | changes)

    assert response.status_code == 422
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == errors
    assert rate_rows(shop, method) == []


def test_create_rate_with_is_free_is_refused(shop):
    method = make_method(shop)

    response = post_rate(shop, method, RATE | {"is_free": False})

    assert response.status_code == 422
    assert response.json()["code"] == "read_only_field"
    assert response.json()["errors"][0]["field"] == "is_free"
    assert rate_rows(shop, method) == []


def test_create_rate_of_an_unknown_foreign_or_deleted_method_is_not_found(shop, other_shop):
    foreign, deleted = make_method(other_shop), make_method(shop)
    shop.admin.delete(f"shipping/methods/{deleted.pk}.json")

    assert shop.admin.post("shipping/methods/1/rates.json", RATE).status_code == 404
    assert post_rate(shop, foreign, RATE).status_code == 404
    assert post_rate(shop, deleted, RATE).status_code == 404
    assert rate_rows(other_shop, foreign) == rate_rows(shop, deleted) == []


def test_create_flat_rate_with_bounds_is_refused(shop):
    method = make_method(shop, rate_mode="flat")

    response = post_rate(shop, method, {"price_cents": 1, "currency": "EUR", "max_weight_grams": 5})

    assert response.status_code == 422
    assert [(e["field"], e["code"]) for e in response.json()["errors"]] == [
        ("max_weight_grams", "not_allowed")
    ]
    assert rate_rows(shop, method) == []


def test_create_flat_rate_once_per_currency(shop):
    method = make_method(shop, rate_mode="flat")
    euro = {"price_cents": 490, "currency": "EUR", "min_quantity": None}

    assert post_rate(shop, method, euro).status_code == 201
    assert post_rate(shop, method, euro | {"currency": "CZK"}).status_code == 201
    response = post_rate(shop, method, euro)

    assert response.status_code == 409
    assert response.json()["code"] == "flat_rate_exists"
    assert [rate.currency for rate in rate_rows(shop, method)] == ["EUR", "CZK"]


def test_create_flat_rate_in_place_of_a_deleted_one(shop):
    method = make_method(shop, rate_mode="flat")
    rate = make_rate(shop, method=method)
    shop.admin.delete(f"shipping/rates/{rate.pk}.json")

    assert post_rate(shop, method, {"price_cents": 590, "currency": "EUR"}).status_code == 201


def test_create_rate_of_a_free_method_must_be_free(shop):
    method = make_method(shop, rate_mode="free")

    response = post_rate(shop, method, {"price_cents": 1, "currency": "EUR"})

    assert response.status_code == 422
    assert response.json()["code"] == "rate_must_be_free"
    assert rate_rows(shop, method) == []


def test_create_rate_of_a_free_method_replaces_what_quotes_made(shop):
    method = make_method(shop, rate_mode="free")
    make_rate(shop, method=method, price_cents=0, is_automatic=True)

    response = post_rate(shop, method, {"price_cents": 0, "currency": "EUR", "min_subtotal_cents": 5000})

    assert response.status_code == 201
    assert [str(rate.pk) for rate in rate_rows(shop, method)] == [response.json()["rate"]["id"]]


@pytest.mark.parametrize("number", [1, 3])
def test_list_rates_newest_first_in_two_statements(shop, django_assert_num_queries, number):
    make_rate(shop)
    method = make_method(shop)
    rates = [make_rate(shop, method=method) for _ in range(number)]
    path = f"shipping/methods/{method.pk}/rates.json"
    shop.admin.get(path)

    # Besides the two: the scope's setting, and in a test's own transaction a savepoint, its end, and the reset.
    with django_assert_num_queries(6):
        response = shop.admin.get(path)

    assert [rate["id"] for rate in response.json()["rates"]] == [str(rate.pk) for rate in reversed(rates)]
    assert response.json()["next_cursor_id"] is None


def test_list_rates_of_another_accounts_method_is_not_found(shop, other_shop):
    rate = make_rate(other_shop)

    assert shop.admin.get(f"shipping/methods/{rate.method_id}/rates.json").status_code == 404
    assert shop.admin.get(f"shipping/rates/{rate.pk}.json").status_code == 404


def test_get_rate(shop):
    rate = make_rate(shop, price_cents=490, max_weight_grams=5000)

    response = shop.admin.get(f"shipping/rates/{rate.pk}.json")

    assert response.status_code == 200
    shown = response.json()["rate"]
    assert (shown["id"], shown["price_cents"], shown["max_weight_grams"]) == (str(rate.pk), "490", 5000)


def test_update_rate_changes_only_what_is_sent(shop):
    rate = make_rate(shop, price_cents=490, max_weight_grams=5000, max_quantity=3)

    response = shop.admin.put(
        f"shipping/rates/{rate.pk}.json", {"price_cents": "590", "max_weight_grams": None}
    )

    assert response.status_code == 200
    (row,) = rate_rows(shop, rate.method)
    assert (row.price_cents, row.max_weight_grams, row.max_quantity) == (590, None, 3)


@pytest.mark.parametrize(
    ("mode", "changes", "status", "code"),
    [
        ("tiered", {"price_cents": -1}, 422, "validation_failed"),
        ("tiered", {"min_weight_grams": 5001}, 422, "validation_failed"),
        ("tiered", {"is_free": True}, 422, "read_only_field"),
        ("free", {"price_cents": 5}, 422, "rate_must_be_free"),
        ("flat", {"min_quantity": 1}, 422, "validation_failed"),
        ("flat", {"currency": "CZK"}, 409, "flat_rate_exists"),
    ],
)
def test_update_rate_refused_changes_nothing(shop, mode, changes, status, code):
    method = make_method(shop, rate_mode=mode)
    bounds = {} if mode == "flat" else {"max_weight_grams": 5000}
    rate = make_rate(shop, method=method, price_cents=0, **bounds)
    make_rate(shop, method=method, price_cents=0, currency="CZK")

    response = shop.admin.put(f"shipping/rates/{rate.pk}.json", {"display_name": "New"} | changes)

    assert (response.status_code, response.json()["code"]) == (status, code)
    row = rate_rows(shop, method)[0]
    assert (row.display_name, row.price_cents, row.currency) == (None, 0, "EUR")
    assert (row.min_weight_grams, row.min_quantity) == (None, None)


def test_update_rate_that_a_quote_made_becomes_the_merchants_own(shop):
    method = make_method(shop, rate_mode="free")
    rate = make_rate(shop, method=method, price_cents=0, is_automatic=True)
    make_rate(shop, method=method, price_cents=0, currency="CZK", is_automatic=True)

    response = shop.admin.put(f"shipping/rates/{rate.pk}.json", {"min_subtotal_cents": 5000})

    assert response.status_code == 200
    assert response.json()["rate"]["is_automatic"] is False
    assert [row.pk for row in rate_rows(shop, method)] == [rate.pk]


def test_update_rate_of_another_account_is_not_found(shop, other_shop):
    rate = make_rate(other_shop, price_cents=490)

    assert shop.admin.put(f"shipping/rates/{rate.pk}.json", {"price_cents": 1}).status_code == 404
    assert [row.price_cents for row in rate_rows(other_shop, rate.method)] == [490]


def test_delete_rate_is_gone_afterwards(shop):
    rate = make_rate(shop)
    path = f"shipping/rates/{rate.pk}.json"

    assert shop.admin.delete(path).status_code == 204

    assert shop.admin.get(path).status_code == 404
    assert shop.admin.put(path, {"price_cents": 1}).status_code == 404
    assert shop.admin.delete(path).status_code == 404
    with shop.scope():
        assert ShippingRate.objects.get(pk=rate.pk).deleted_at is not None


def test_delete_rate_of_another_account_is_not_found(shop, other_shop):
    rate = make_rate(other_shop)

    assert shop.admin.delete(f"shipping/rates/{rate.pk}.json").status_code == 404
    assert rate_rows(other_shop, rate.method) == [rate]

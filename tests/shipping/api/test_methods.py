"""POST and GET shipping/methods.json, GET, PUT and DELETE shipping/methods/{id}.json."""

import pytest

from shipping.models import ShippingMethod, ShippingRate
from tests.factories import make_method, make_rate, make_zone


@pytest.fixture
def zone(shop):
    return make_zone(shop)


def body_for(zone, **fields):
    return {
        "handle": "parcel",
        "name": "Parcel",
        "zone_id": zone.pk,
        "carrier": "dhl",
        "service_code": "parcel-eu",
        "rate_mode": "tiered",
        "requires_pickup_point": True,
        "is_cod_compatible": True,
        "estimated_days_min": 1,
        "estimated_days_max": 3,
        "cod_fee_cents": 250,
        "carrier_config": {"shop_id": "42"},
    } | fields


def method_row(shop, method_id):
    with shop.scope():
        return ShippingMethod.objects.get(pk=method_id)


def method_count(shop):
    with shop.scope():
        return ShippingMethod.objects.count()


def rate_rows(shop, method):
    with shop.scope():
        return list(ShippingRate.objects.filter(method=method).order_by("pk"))


def test_create_method_answers_all_fields(shop, zone):
    response = shop.admin.post("shipping/methods.json", body_for(zone))

    assert response.status_code == 201
    method = response.json()["method"]
    assert method.pop("created_at").endswith("Z")
    assert method.pop("updated_at").endswith("Z")
    assert method == body_for(zone) | {
        "id": method["id"],
        "zone_id": str(zone.pk),
        "cod_fee_cents": "250",
        "rates": [],
    }


def test_create_method_with_required_fields_only(shop, zone):
    names = ("handle", "name", "zone_id", "carrier", "service_code", "rate_mode")

    response = shop.admin.post("shipping/methods.json", {name: body_for(zone)[name] for name in names})

    assert response.status_code == 201
    method = response.json()["method"]
    assert (method["requires_pickup_point"], method["is_cod_compatible"]) == (False, False)
    assert (method["estimated_days_min"], method["estimated_days_max"]) == (None, None)
    assert (method["cod_fee_cents"], method["carrier_config"]) == ("0", {})


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"zone_id": 2**53 - 1}, "zone_id", "not_found"),
        ({"zone_id": None}, "zone_id", "null"),
        ({"zone_id": "x"}, "zone_id", "invalid"),
        ({"carrier": "DHL Express"}, "carrier", "invalid_token"),
        ({"carrier": ""}, "carrier", "blank"),
        ({"service_code": "a" * 65}, "service_code", "invalid_token"),
        ({"rate_mode": "weight"}, "rate_mode", "invalid_choice"),
        ({"rate_mode": ["flat"]}, "rate_mode", "invalid_choice"),
        ({"requires_pickup_point": 1}, "requires_pickup_point", "invalid"),
        ({"estimated_days_min": 32_768}, "estimated_days_min", "max_value"),
        ({"estimated_days_min": -1}, "estimated_days_min", "min_value"),
        ({"estimated_days_min": 4}, "estimated_days_max", "below_min"),
        ({"cod_fee_cents": -1}, "cod_fee_cents", "min_value"),
        ({"cod_fee_cents": 2**53}, "cod_fee_cents", "max_value"),
        ({"cod_fee_cents": 1.5}, "cod_fee_cents", "invalid"),
        ({"carrier_config": []}, "carrier_config", "invalid"),
        ({"carrier_config": "{}"}, "carrier_config", "invalid"),
        ({"carrier_config": None}, "carrier_config", "null"),
        ({"carrier_config": {"shop_id": "\x00"}}, "carrier_config", "null_characters_not_allowed"),
    ],
)
def test_create_method_refuses_a_bad_field(shop, zone, changes, field, code):
    response = shop.admin.post("shipping/methods.json", body_for(zone, **changes))

    assert response.status_code == 422
    assert response.json()["code"] == "validation_failed"
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [(field, code)]
    assert method_count(shop) == 0


def test_create_method_in_a_zone_of_another_account_is_refused(shop, other_shop):
    foreign = make_zone(other_shop)

    response = shop.admin.post("shipping/methods.json", body_for(foreign))

    assert response.status_code == 422
    assert response.json()["errors"][0] | {"detail": ""} == {
        "field": "zone_id",
        "code": "not_found",
        "detail": "",
    }
    assert method_count(shop) == method_count(other_shop) == 0


def test_create_method_in_a_deleted_zone_is_refused(shop, zone):
    shop.admin.delete(f"shipping/zones/{zone.pk}.json")

    response = shop.admin.post("shipping/methods.json", body_for(zone))

    assert response.status_code == 422
    assert response.json()["errors"][0]["code"] == "not_found"
    assert method_count(shop) == 0


def test_create_method_that_asks_the_carrier_is_refused(shop, zone):
    response = shop.admin.post("shipping/methods.json", body_for(zone, rate_mode="carrier_api"))

    assert response.status_code == 422
    assert response.json()["code"] == "rate_mode_not_available"
    assert method_count(shop) == 0


def test_create_method_with_a_taken_handle_is_refused(shop, zone):
    make_method(shop, zone=zone, handle="parcel")

    response = shop.admin.post("shipping/methods.json", body_for(zone))

    assert response.status_code == 409
    assert response.json()["code"] == "handle_taken"
    assert method_count(shop) == 1


@pytest.mark.parametrize("number", [1, 3])
def test_list_methods_with_their_rates_in_two_statements(shop, zone, django_assert_num_queries, number):
    methods = [make_method(shop, zone=zone) for _ in range(number)]
    rates = [[make_rate(shop, method=method) for _ in range(number)] for method in methods]
    shop.admin.get("shipping/methods.json")

    # Besides the two: the scope's setting, and in a test's own transaction a savepoint, its end, and the reset.
    with django_assert_num_queries(6):
        response = shop.admin.get("shipping/methods.json")

    listed = [(m["id"], [rate["id"] for rate in m["rates"]]) for m in response.json()["methods"]]
    expected = [(str(m.pk), [str(rate.pk) for rate in own]) for m, own in zip(methods, rates, strict=True)]
    assert listed == expected[::-1]


def test_list_methods_leaves_out_deleted_ones_and_those_of_others(shop, other_shop):
    make_method(other_shop)
    kept, deleted = make_method(shop), make_method(shop)
    shop.admin.delete(f"shipping/methods/{deleted.pk}.json")

    response = shop.admin.get("shipping/methods.json")

    assert [method["id"] for method in response.json()["methods"]] == [str(kept.pk)]


def test_get_method_shows_its_live_rates(shop):
    method = make_method(shop)
    kept, deleted = make_rate(shop, method=method), make_rate(shop, method=method)
    shop.admin.delete(f"shipping/rates/{deleted.pk}.json")

    response = shop.admin.get(f"shipping/methods/{method.pk}.json")

    assert response.status_code == 200
    assert [rate["id"] for rate in response.json()["method"]["rates"]] == [str(kept.pk)]


def test_get_method_of_another_account_is_not_found(shop, other_shop):
    method = make_method(other_shop)

    assert shop.admin.get(f"shipping/methods/{method.pk}.json").status_code == 404
    assert other_shop.admin.get(f"shipping/methods/{method.pk}.json").status_code == 200


def test_update_method_changes_only_what_is_sent(shop):
    method = make_method(shop, estimated_days_min=1, estimated_days_max=3)

    response = shop.admin.put(f"shipping/methods/{method.pk}.json", {"estimated_days_max": 5})

    assert response.status_code == 200
    assert response.json()["method"]["estimated_days_max"] == 5
    assert response.json()["method"]["name"] == method.name
    assert method_row(shop, method.pk).estimated_days_max == 5


def test_update_method_takes_back_what_was_read(shop):
    method = make_rate(shop).method
    read = shop.admin.get(f"shipping/methods/{method.pk}.json").json()["method"]

    response = shop.admin.put(f"shipping/methods/{method.pk}.json", read)

    assert response.status_code == 200
    assert response.json()["method"] | {"updated_at": None} == read | {"updated_at": None}


def test_update_method_moves_to_another_zone(shop):
    method, zone = make_method(shop), make_zone(shop)

    response = shop.admin.put(f"shipping/methods/{method.pk}.json", {"zone_id": zone.pk})

    assert response.json()["method"]["zone_id"] == str(zone.pk)


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"zone_id": 1}, 422, "validation_failed"),
        ({"estimated_days_min": 4}, 422, "validation_failed"),
        ({"rate_mode": "carrier_api"}, 422, "rate_mode_not_available"),
        ({"handle": "taken"}, 409, "handle_taken"),
    ],
)
def test_update_method_refused_changes_nothing(shop, changes, status, code):
    make_method(shop, handle="taken")
    method = make_method(shop, estimated_days_max=3)

    response = shop.admin.put(f"shipping/methods/{method.pk}.json", {"name": "New"} | changes)

    assert (response.status_code, response.json()["code"]) == (status, code)
    row = method_row(shop, method.pk)
    assert (row.name, row.handle, row.zone_id, row.rate_mode, row.estimated_days_min) == (
        method.name,
        method.handle,
        method.zone_id,
        "tiered",
        None,
    )


def test_update_method_to_flat_carries_its_rates_over(shop):
    method = make_method(shop)
    make_rate(shop, method=method, currency="EUR")
    make_rate(shop, method=method, currency="CZK")

    response = shop.admin.put(f"shipping/methods/{method.pk}.json", {"rate_mode": "flat"})

    assert response.json()["method"]["rate_mode"] == "flat"
    assert [rate.is_flat for rate in rate_rows(shop, method)] == [True, True]
    again = shop.admin.post(f"shipping/methods/{method.pk}/rates.json", {"price_cents": 1, "currency": "EUR"})
    assert again.json()["code"] == "flat_rate_exists"


def test_update_method_from_flat_to_tiered_lets_rates_repeat(shop):
    method = make_method(shop, rate_mode="flat")
    make_rate(shop, method=method)

    response = shop.admin.put(f"shipping/methods/{method.pk}.json", {"rate_mode": "tiered"})

    assert response.status_code == 200
    body = {"price_cents": 1, "currency": "EUR", "max_weight_grams": 5}
    assert shop.admin.post(f"shipping/methods/{method.pk}/rates.json", body).status_code == 201


def test_update_method_to_flat_is_refused_with_bounded_or_repeated_rates(shop):
    method = make_method(shop)
    make_rate(shop, method=method)
    bounded = make_rate(shop, method=method, currency="CZK", max_quantity=3)
    repeated = make_rate(shop, method=method)

    response = shop.admin.put(f"shipping/methods/{method.pk}.json", {"rate_mode": "flat"})

    assert response.status_code == 409
    assert response.json()["code"] == "rate_mode_conflict"
    assert response.json()["rate_ids"] == [str(bounded.pk), str(repeated.pk)]
    assert method_row(shop, method.pk).rate_mode == "tiered"
    assert [rate.is_flat for rate in rate_rows(shop, method)] == [False, False, False]


def test_update_method_to_free_is_refused_with_a_price(shop):
    method = make_method(shop)
    make_rate(shop, method=method, price_cents=0)
    priced = make_rate(shop, method=method, price_cents=1)

    response = shop.admin.put(f"shipping/methods/{method.pk}.json", {"rate_mode": "free"})

    assert response.status_code == 409
    assert response.json()["rate_ids"] == [str(priced.pk)]
    assert method_row(shop, method.pk).rate_mode == "tiered"


def test_update_method_from_free_deletes_the_rates_that_quotes_made(shop):
    method = make_method(shop, rate_mode="free")
    make_rate(shop, method=method, price_cents=0, is_automatic=True)

    response = shop.admin.put(f"shipping/methods/{method.pk}.json", {"rate_mode": "flat"})

    assert response.status_code == 200
    assert response.json()["method"]["rates"] == []


def test_delete_method_takes_its_rates_along_and_keeps_the_rows(shop):
    rate = make_rate(shop)
    method = rate.method

    response = shop.admin.delete(f"shipping/methods/{method.pk}.json")

    assert response.status_code == 204
    for path in (f"methods/{method.pk}.json", f"methods/{method.pk}/rates.json", f"rates/{rate.pk}.json"):
        assert shop.admin.get(f"shipping/{path}").status_code == 404
    assert shop.admin.delete(f"shipping/methods/{method.pk}.json").status_code == 404
    assert method_row(shop, method.pk).deleted_at is not None
    assert [row.deleted_at is not None for row in rate_rows(shop, method)] == [True]


def test_delete_method_of_another_account_is_not_found(shop, other_shop):
    method = make_method(other_shop)

    assert shop.admin.delete(f"shipping/methods/{method.pk}.json").status_code == 404
    assert method_row(other_shop, method.pk).deleted_at is None

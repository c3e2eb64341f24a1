import pytest

from shipping.models import ShippingZone
from tests.factories import make_method, make_zone

ZONE = {
    "handle": "germany",
    "name": "Germany",
    "country_codes": ["DE", "AT"],
    "zip_patterns": ["10*", "20095"],
}


def zone_row(shop, zone_id):
    with shop.scope():
        return ShippingZone.objects.get(pk=zone_id)


def zone_count(shop):
    with shop.scope():
        return ShippingZone.objects.count()


def test_create_zone_answers_all_fields(shop):
    response = shop.admin.post("shipping/zones.json", ZONE)

    assert response.status_code == 201
    zone = response.json()["zone"]
    stamps = zone.pop("created_at"), zone.pop("updated_at")
    assert all(stamp.endswith("Z") for stamp in stamps)
    assert zone == ZONE | {"id": zone["id"], "market_id": None}
    assert zone["id"].isdigit()


def test_create_zone_for_a_market(shop):
    response = shop.admin.post("shipping/zones.json", ZONE | {"market_id": shop.market.pk})

    assert response.status_code == 201
    assert response.json()["zone"]["market_id"] == str(shop.market.pk)


def test_create_zone_without_patterns_is_the_whole_country(shop):
    body = {name: value for name, value in ZONE.items() if name != "zip_patterns"}

    response = shop.admin.post("shipping/zones.json", body | {"country_codes": ["de", "DE"]})

    assert response.status_code == 201
    assert response.json()["zone"]["country_codes"] == ["DE"]
    assert response.json()["zone"]["zip_patterns"] == []


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"handle": None}, "handle", "null"),
        ({"handle": "Not a handle"}, "handle", "invalid_handle"),
        ({"name": ""}, "name", "blank"),
        ({"name": "a\x00b"}, "name", "null_characters_not_allowed"),
        ({"name": "a" * 201}, "name", "max_length"),
        ({"country_codes": []}, "country_codes", "empty"),
        ({"country_codes": "DE"}, "country_codes", "not_a_list"),
        ({"country_codes": ["DE", "EU"]}, "country_codes.1", "unknown_country"),
        ({"country_codes": [["DE"]]}, "country_codes.0", "invalid"),
        ({"country_codes": ["DE"] * 250}, "country_codes", "max_length"),
        ({"zip_patterns": ["1*5"]}, "zip_patterns.0", "invalid_zip_pattern"),
        ({"zip_patterns": ["10", "10**"]}, "zip_patterns.1", "invalid_zip_pattern"),
        ({"zip_patterns": ["*1"]}, "zip_patterns.0", "invalid_zip_pattern"),
        ({"zip_patterns": [" - "]}, "zip_patterns.0", "invalid_zip_pattern"),
        ({"zip_patterns": [""]}, "zip_patterns.0", "blank"),
        ({"zip_patterns": [12]}, "zip_patterns.0", "invalid"),
        ({"zip_patterns": ["1" * 17]}, "zip_patterns.0", "max_length"),
        ({"zip_patterns": None}, "zip_patterns", "null"),
        ({"zip_patterns": ["1*"] * 501}, "zip_patterns", "max_length"),
        ({"market_id": 2**53 - 1}, "market_id", "not_found"),
        ({"market_id": 2**53}, "market_id", "max_value"),
        ({"market_id": True}, "market_id", "invalid"),
    ],
)
def test_create_zone_refuses_a_bad_field(shop, changes, field, code):
    response = shop.admin.post("shipping/zones.json", ZONE | changes)

    assert response.status_code == 422
    assert response.json()["code"] == "validation_failed"
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [(field, code)]
    assert zone_count(shop) == 0


def test_create_zone_refuses_a_market_of_another_account(shop, other_shop):
    response = shop.admin.post("shipping/zones.json", ZONE | {"market_id": other_shop.market.pk})

    assert response.status_code == 422
    assert response.json()["errors"][0]["code"] == "not_found"
    assert zone_count(shop) == 0


def test_create_zone_with_a_taken_handle_is_refused(shop):
    make_zone(shop, handle="germany")

    response = shop.admin.post("shipping/zones.json", ZONE)

    assert response.status_code == 409
    assert response.json()["code"] == "handle_taken"
    assert zone_count(shop) == 1


def test_create_zone_with_the_handle_of_another_account_or_a_deleted_zone(shop, other_shop):
    make_zone(other_shop, handle="germany")
    deleted = make_zone(shop, handle="germany")
    shop.admin.delete(f"shipping/zones/{deleted.pk}.json")

    response = shop.admin.post("shipping/zones.json", ZONE)

    assert response.status_code == 201


@pytest.mark.parametrize("number", [1, 3])
def test_list_zones_newest_first_in_one_statement(shop, django_assert_num_queries, number):
    zones = [make_zone(shop) for _ in range(number)]
    shop.admin.get("shipping/zones.json")

    # Besides the list: the scope's setting, and in a test's own transaction a savepoint, its end, and the reset.
    with django_assert_num_queries(5):
        response = shop.admin.get("shipping/zones.json")

    assert response.status_code == 200
    assert [zone["id"] for zone in response.json()["zones"]] == [str(zone.pk) for zone in reversed(zones)]
    assert response.json()["next_cursor_id"] is None


def test_list_zones_in_pages_without_deleted_ones_and_those_of_others(shop, other_shop):
    make_zone(other_shop)
    first, second, third = (make_zone(shop) for _ in range(3))
    shop.admin.delete(f"shipping/zones/{third.pk}.json")

    page = shop.admin.get("shipping/zones.json?limit=1").json()
    rest = shop.admin.get(f"shipping/zones.json?limit=1&cursor_id={page['next_cursor_id']}").json()

    assert [zone["id"] for zone in page["zones"]] == [str(second.pk)]
    assert [zone["id"] for zone in rest["zones"]] == [str(first.pk)]
    assert rest["next_cursor_id"] is None


def test_get_zone_of_another_account_is_not_found(shop, other_shop):
    zone = make_zone(other_shop)

    assert shop.admin.get(f"shipping/zones/{zone.pk}.json").status_code == 404
    assert other_shop.admin.get(f"shipping/zones/{zone.pk}.json").json()["zone"]["id"] == str(zone.pk)


def test_update_zone_changes_only_what_is_sent(shop):
    zone = make_zone(shop, zip_patterns=["10*"])

    response = shop.admin.put(f"shipping/zones/{zone.pk}.json", {"name": "Berlin"})

    assert response.status_code == 200
    assert response.json()["zone"]["name"] == "Berlin"
    assert response.json()["zone"]["zip_patterns"] == ["10*"]
    assert zone_row(shop, zone.pk).name == "Berlin"


def test_update_zone_takes_back_what_was_read(shop):
    zone = make_zone(shop, market=shop.market)
    read = shop.admin.get(f"shipping/zones/{zone.pk}.json").json()["zone"]

    response = shop.admin.put(f"shipping/zones/{zone.pk}.json", read)

    assert response.status_code == 200
    assert response.json()["zone"] | {"updated_at": None} == read | {"updated_at": None}


def test_update_zone_to_a_taken_handle_is_refused(shop):
    make_zone(shop, handle="germany")
    zone = make_zone(shop, handle="austria")

    response = shop.admin.put(f"shipping/zones/{zone.pk}.json", {"handle": "germany"})

    assert response.status_code == 409
    assert response.json()["code"] == "handle_taken"
    assert zone_row(shop, zone.pk).handle == "austria"


def test_update_zone_refuses_an_unknown_market(shop):
    zone = make_zone(shop)

    response = shop.admin.put(f"shipping/zones/{zone.pk}.json", {"name": "New", "market_id": 1})

    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "market_id"
    assert zone_row(shop, zone.pk).name == zone.name


def test_update_zone_of_another_account_is_not_found(shop, other_shop):
    zone = make_zone(other_shop)

    response = shop.admin.put(f"shipping/zones/{zone.pk}.json", {"name": "Mine"})

    assert response.status_code == 404
    assert zone_row(other_shop, zone.pk).name == zone.name


def test_delete_zone_is_gone_afterwards(shop):
    zone = make_zone(shop)

    response = shop.admin.delete(f"shipping/zones/{zone.pk}.json")

    assert response.status_code == 204
    assert response.content == b""
    assert shop.admin.get(f"shipping/zones/{zone.pk}.json").status_code == 404
    assert shop.admin.put(f"shipping/zones/{zone.pk}.json", {"name": "New"}).status_code == 404
    assert shop.admin.delete(f"shipping/zones/{zone.pk}.json").status_code == 404


def test_delete_zone_with_live_methods_is_refused(shop):
    zone = make_zone(shop)
    method = make_method(shop, zone=zone)

    response = shop.admin.delete(f"shipping/zones/{zone.pk}.json")

    assert response.status_code == 409
    assert response.json()["code"] == "zone_in_use"
    assert zone_row(shop, zone.pk).deleted_at is None
    shop.admin.delete(f"shipping/methods/{method.pk}.json")
    assert shop.admin.delete(f"shipping/zones/{zone.pk}.json").status_code == 204


def test_zones_need_the_scope_of_shipping(shop):
    reader = shop.client_with("read_shipping")

    assert reader.get("shipping/zones.json").status_code == 200
    assert reader.post("shipping/zones.json", ZONE).status_code == 403
    assert shop.client_with("write_orders").get("shipping/zones.json").status_code == 403
    assert zone_count(shop) == 0

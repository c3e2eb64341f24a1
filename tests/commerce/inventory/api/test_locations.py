"""locations.json and locations/{id}.json."""

import pytest

from commerce.formats import timestamp
from commerce.inventory.models import Location
from tests.commerce.refusals import field_errors, refusal

DEPOT = {"handle": "depot", "name": "Depot"}


def locations_of(shop):
    with shop.scope():
        return list(Location.objects.order_by("pk"))


def main_location(shop):
    return locations_of(shop)[0]


def test_create_location_is_active_and_of_the_highest_priority_unless_said(shop):
    answer = shop.admin.post("locations.json", DEPOT)

    assert answer.status_code == 201
    row = locations_of(shop)[-1]
    assert answer.json()["location"] == {
        "id": str(row.pk),
        "handle": "depot",
        "name": "Depot",
        "priority": 1,
        "is_active": True,
        "created_at": timestamp(row.created_at),
        "updated_at": timestamp(row.updated_at),
    }


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"handle": "De pot"}, "handle", "invalid_handle"),
        ({"name": None}, "name", "null"),
        ({"name": ["Depot"]}, "name", "invalid"),
        ({"priority": 0}, "priority", "min_value"),
        ({"priority": 2**31}, "priority", "max_value"),
        ({"priority": "1"}, "priority", "invalid"),
        ({"is_active": "yes"}, "is_active", "invalid"),
    ],
)
def test_create_location_refuses_bad_fields(shop, changes, field, code):
    answer = shop.admin.post("locations.json", DEPOT | changes)

    assert field_errors(answer) == [(field, code)]
    assert [location.handle for location in locations_of(shop)] == ["main"]


def test_create_location_refuses_a_taken_handle(shop):
    answer = shop.admin.post("locations.json", DEPOT | {"handle": "main"})

    assert refusal(answer) == (409, "handle_taken")
    assert len(locations_of(shop)) == 1


@pytest.mark.parametrize("number", [1, 3])
def test_list_locations_is_newest_first(shop, django_assert_num_queries, number):
    for index in range(number):
        shop.admin.post("locations.json", {"handle": f"depot-{index}", "name": "Depot"})

    with django_assert_num_queries(5):
        answer = shop.admin.get("locations.json")

    handles = [location["handle"] for location in answer.json()["locations"]]
    assert handles == [f"depot-{index}" for index in reversed(range(number))] + ["main"]


def test_update_location_changes_only_what_is_sent(shop):
    location = main_location(shop)

    answer = shop.admin.put(f"locations/{location.pk}.json", {"priority": 5, "is_active": False})

    assert answer.status_code == 200
    changed = answer.json()["location"]
    assert (changed["handle"], changed["priority"], changed["is_active"]) == ("main", 5, False)
    assert shop.admin.get(f"locations/{location.pk}.json").json()["location"] == changed


def test_update_location_refuses_a_taken_handle(shop):
    location = main_location(shop)
    shop.admin.post("locations.json", DEPOT)

    answer = shop.admin.put(f"locations/{location.pk}.json", {"handle": "depot"})

    assert refusal(answer) == (409, "handle_taken")
    assert main_location(shop).handle == "main"


@pytest.mark.parametrize("method", ["get", "put"])
def test_location_of_another_shop_is_not_found(shop, other_shop, method):
    location = main_location(other_shop)

    answer = getattr(shop.admin, method)(f"locations/{location.pk}.json")

    assert refusal(answer) == (404, "not_found")

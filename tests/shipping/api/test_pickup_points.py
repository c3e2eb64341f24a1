"""GET shipping/pickup-points.json without a handle, GET pickup-points.json of the storefront."""

from decimal import Decimal

import pytest

from accounts.models import Account
from tests.clients import ApiClient
from tests.factories import make_pickup_point

PATH = "shipping/pickup-points.json"


@pytest.fixture
def admin(shop):
    """A client of the admin API's root."""
    return ApiClient.admin(shop.issue("admin"))


def list_ids(client, query="", path=PATH):
    response = client.get(f"{path}{query}")
    assert response.status_code == 200
    return [int(point["id"]) for point in response.json()["pickup_points"]]


def test_pickup_points_answer_every_field(admin):
    point = make_pickup_point(
        external_id="4711",
        kind="locker",
        name="Central station",
        address1="Europaplatz 1",
        city="Berlin",
        zip="10 557",
        normalised_zip="10557",
        latitude=Decimal("52.525084"),
        longitude=Decimal("13.369402"),
        opening_hours={"mon": ["00:00-24:00"]},
        is_cod_supported=True,
        max_weight_grams=15000,
    )

    response = admin.get(PATH)

    assert response.status_code == 200
    (shown,) = response.json()["pickup_points"]
    assert shown.pop("updated_at").endswith("Z")
    assert shown == {
        "id": str(point.pk),
        "carrier": "packeta",
        "external_id": "4711",
        "kind": "locker",
        "name": "Central station",
        "address1": "Europaplatz 1",
        "city": "Berlin",
        "zip": "10 557",
        "country_code": "DE",
        "latitude": 52.525084,
        "longitude": 13.369402,
        "opening_hours": {"mon": ["00:00-24:00"]},
        "is_cod_supported": True,
        "max_weight_grams": 15000,
        "status": "active",
    }
    assert response.json()["next_cursor_id"] is None


def test_pickup_points_of_unknown_place_have_nulls(admin):
    make_pickup_point()

    (shown,) = admin.get(PATH).json()["pickup_points"]

    assert (shown["latitude"], shown["longitude"], shown["opening_hours"]) == (None, None, None)
    assert shown["max_weight_grams"] is None


def test_pickup_points_are_the_same_for_every_key(shop, other_shop, admin):
    point = make_pickup_point()

    assert list_ids(admin) == [point.pk]
    assert list_ids(ApiClient.admin(other_shop.issue("workspace"))) == [point.pk]
    assert list_ids(shop.storefront, path="pickup-points.json") == [point.pk]
    assert list_ids(other_shop.storefront, path="pickup-points.json") == [point.pk]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?carrier=dpd", {"dpd"}),
        ("?country_code=cz", {"prague"}),
        ("?postcode_prefix=10", {"berlin", "dpd"}),
        ("?postcode_prefix=1-0 11", {"berlin", "dpd"}),
        ("?postcode_prefix=sw1a", {"london"}),
        ("?postcode_prefix=1&carrier=packeta&country_code=CZ", {"prague"}),
        ("?postcode_prefix=10115&carrier=packeta", {"berlin"}),
        ("?postcode_prefix=101150", set()),
        ("?postcode_prefix=%25", set()),
        ("?postcode_prefix=-", {"berlin", "dpd", "prague", "london"}),
        ("?carrier=unknown", set()),
        ("?status=closed", {"closed"}),
    ],
)
@pytest.mark.parametrize("surface", ["admin", "storefront"])
def test_pickup_points_are_filtered(shop, admin, surface, query, expected):
    points = {
        "berlin": make_pickup_point(),
        "dpd": make_pickup_point(carrier="dpd"),
        "prague": make_pickup_point(country_code="CZ", zip="110 00", normalised_zip="11000"),
        "london": make_pickup_point(country_code="GB", zip="SW1A 1AA", normalised_zip="SW1A1AA"),
        "closed": make_pickup_point(status="closed"),
    }
    client, path = (admin, PATH) if surface == "admin" else (shop.storefront, "pickup-points.json")

    found = list_ids(client, query, path)

    assert found == sorted((points[name].pk for name in expected), reverse=True)


@pytest.mark.parametrize("query", ["", "&postcode_prefix=10"])
def test_pickup_points_in_pages(admin, query):
    first, second, third = (make_pickup_point().pk for _ in range(3))

    page = admin.get(f"{PATH}?limit=2{query}").json()
    rest = admin.get(f"{PATH}?limit=2&cursor_id={page['next_cursor_id']}{query}").json()

    assert [point["id"] for point in page["pickup_points"]] == [str(third), str(second)]
    assert [point["id"] for point in rest["pickup_points"]] == [str(first)]
    assert rest["next_cursor_id"] is None


@pytest.mark.parametrize("number", [1, 3])
def test_pickup_points_take_one_statement(admin, django_assert_num_queries, number):
    for _ in range(number):
        make_pickup_point()
    admin.get(PATH)

    # The list; in the test's transaction, the request's is a savepoint, created and released.
    with django_assert_num_queries(3):
        found = list_ids(admin, "?postcode_prefix=1")

    assert len(found) == number


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [
        ("?carrier=Packeta", "carrier", "invalid_token"),
        ("?country_code=EU", "country_code", "unknown_country"),
        ("?postcode_prefix=" + "1" * 17, "postcode_prefix", "max_length"),
        ("?postcode_prefix=%00", "postcode_prefix", "null_characters_not_allowed"),
        ("?status=gone", "status", "invalid_choice"),
        ("?limit=0", "limit", "invalid"),
        ("?limit=ten", "limit", "invalid"),
        ("?cursor_id=x", "cursor_id", "invalid"),
    ],
)
def test_pickup_points_refuse_a_bad_filter(admin, query, field, code):
    response = admin.get(f"{PATH}{query}")

    assert response.status_code == 422
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [(field, code)]


def test_pickup_points_need_a_key_of_their_surface(shop, admin):
    assert ApiClient.admin("sk_unknown").get(PATH).status_code == 401
    assert ApiClient.admin(shop.issue("storefront")).get(PATH).status_code == 401
    assert ApiClient.storefront(shop.issue("admin")).get("pickup-points.json").status_code == 401
    assert ApiClient.admin(shop.issue("admin", scopes=["read_orders"])).get(PATH).status_code == 200
    assert ApiClient.admin(shop.issue("admin", scopes=["read_shipping"])).get(PATH).status_code == 200


def test_pickup_points_of_a_suspended_shop_are_closed_to_its_storefront(shop):
    with shop.scope():
        Account.objects.filter(pk=shop.id).update(status="suspended")

    assert shop.storefront.get("pickup-points.json").status_code == 403

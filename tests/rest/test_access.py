"""Every route with every kind of key, generated from the URL resolver."""

from functools import cache

import pytest
from django.utils import timezone

from accounts.operations import set_suspended
from commerce.principal import AREAS
from commerce.tenancy.scope import workspace_scope
from tests.clients import ApiClient
from tests.problems import problem
from tests.rest.routes import rolling_back, routes

ADMIN_ROUTES = routes(surface="admin")
STOREFRONT_ROUTES = routes(surface="storefront")
ALL_ROUTES = ADMIN_ROUTES + STOREFRONT_ROUTES
WORKSPACE_ROUTES = [route for route in ADMIN_ROUTES if route.binding == "workspace"]
ACCOUNT_ROUTES = [route for route in ADMIN_ROUTES if route.binding == "account"]
REFERENCE_ROUTES = [route for route in ADMIN_ROUTES if route.binding == "reference"]
GUARDED_ROUTES = WORKSPACE_ROUTES + ACCOUNT_ROUTES
WRITING_ROUTES = [route for route in GUARDED_ROUTES if route.scope.startswith("write_")]


def areas_of(route):
    return {route.view_class.area, *route.view_class.further_areas}


def ask(client, route, path):
    return client.send(route.method, path, {} if route.takes_body else None)


def refusals(client_of, asked, world):
    """Return how each route refuses the client from `client_of`, after checking that the shop is unchanged."""
    return {str(route): problem(ask(client_of(route), route, world.path(route))) for route in asked}


def each(asked, outcome):
    return dict.fromkeys(map(str, asked), outcome)


def bearer(secret):
    return ApiClient(headers={"Authorization": f"Bearer {secret}"})


def storefront_key(secret):
    return ApiClient(headers={"X-Storefront-Key": secret})


@pytest.fixture
def key(world):
    """Issue a key of the world's shop, of the kind that a route takes, with just these scopes; return the secret."""

    @cache
    def issue(route_binding, *scopes):
        return world.shop.issue("workspace" if route_binding == "workspace" else "admin", scopes=list(scopes))

    return lambda route, *scopes: bearer(issue(route.binding, *scopes))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer sk_" + "0" * 32},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer {admin} {admin}"},
        {"Authorization": "{admin}"},
        {"Authorization": "Basic {admin}"},
        {"Authorization": "Bearer {storefront}"},
        {"X-Storefront-Key": "pk_" + "0" * 32},
        {"X-Storefront-Key": "{admin}"},
        {"X-Storefront-Key": "Bearer {storefront}"},
    ],
    ids=str,
)
def test_routes_without_a_valid_key_of_their_surface_are_unauthenticated(world, headers):
    secrets = {kind: world.shop.issue(kind) for kind in ("admin", "storefront")}
    client = ApiClient(headers={name: value.format(**secrets) for name, value in headers.items()})

    assert refusals(lambda route: client, ALL_ROUTES, world) == each(ALL_ROUTES, (401, "unauthenticated"))


def test_routes_with_the_key_of_the_other_surface_are_unauthenticated(world):
    clients = {
        "admin": storefront_key(world.shop.issue("storefront")),
        "storefront": bearer(world.shop.issue("admin")),
    }

    found = refusals(lambda route: clients[route.surface], ALL_ROUTES, world)

    assert found == each(ALL_ROUTES, (401, "unauthenticated"))


def test_routes_of_the_admin_surface_name_an_area():
    assert set().union(*map(areas_of, GUARDED_ROUTES)) <= set(AREAS)


def test_routes_of_reference_data_are_open_to_a_key_of_any_scope(world, key):
    statuses = {
        (str(route), area): ask(key(route, f"read_{area}"), route, world.path(route)).status_code
        for route in REFERENCE_ROUTES
        for area in AREAS
    }

    assert set(statuses.values()) == {200}


def test_routes_with_a_key_that_lacks_their_scope_are_forbidden(world, key):
    def without_the_area_of(route):
        return key(route, *(f"write_{area}" for area in AREAS if area not in areas_of(route)))

    found = refusals(without_the_area_of, GUARDED_ROUTES, world)

    assert found == each(GUARDED_ROUTES, (403, "insufficient_scope"))


def test_routes_that_write_with_a_key_that_may_only_read_are_forbidden(world, key):
    def with_reading_alone(route):
        return key(route, route.scope.replace("write_", "read_"))

    found = refusals(with_reading_alone, WRITING_ROUTES, world)

    assert found == each(WRITING_ROUTES, (403, "insufficient_scope"))


def test_routes_with_a_key_of_just_their_scope_are_open(world, key):
    shut = {}
    for route in GUARDED_ROUTES + STOREFRONT_ROUTES:
        client = world.shop.storefront if route.surface == "storefront" else key(route, route.scope)
        with rolling_back():
            status = ask(client, route, world.path(route)).status_code
        if status not in ({200, 201, 204, 400, 409, 422} if route.takes_body else {200, 204, 409}):
            shut[str(route)] = status

    assert shut == {}


def test_routes_of_another_account_do_not_exist(world, other_shop, make_shop):
    sister = make_shop(workspace_id=world.shop.workspace_id)
    for secret in (other_shop.issue("admin"), other_shop.issue("workspace"), sister.issue("admin")):
        client = bearer(secret)
        for route in ACCOUNT_ROUTES:
            theirs = ask(client, route, world.path(route))
            nobodys = ask(client, route, world.path(route).replace(world.shop.handle, "no-such-shop"))

            assert (str(route), *problem(theirs)) == (str(route), 404, "not_found")
            assert theirs.json() | {"request_id": ""} == nobodys.json() | {"request_id": ""}


def test_routes_of_a_workspace_are_forbidden_to_admin_keys(world):
    client = bearer(world.shop.issue("admin"))

    found = refusals(lambda route: client, WORKSPACE_ROUTES, world)

    assert found == each(WORKSPACE_ROUTES, (403, "insufficient_scope"))


@pytest.mark.parametrize("route", WORKSPACE_ROUTES, ids=str)
def test_route_of_a_workspace_shows_nothing_of_another_one(world, other_shop, route):
    response = ask(other_shop.workspace, route, world.path(route))

    if route.placeholders:
        assert problem(response) == (404, "not_found")
    assert world.shop.handle.encode() not in response.content


def test_routes_of_a_suspended_account_are_forbidden(world):
    shop = world.shop
    with workspace_scope(shop.workspace_id):
        set_suspended(account_id=shop.id, suspended=True, now=timezone.now())
    asked = ACCOUNT_ROUTES + STOREFRONT_ROUTES

    for secret in (shop.issue("admin"), shop.issue("workspace")):
        clients = {"admin": bearer(secret), "storefront": storefront_key(shop.issue("storefront"))}
        found = refusals(lambda route, clients=clients: clients[route.surface], asked, world)

        assert found == each(asked, (403, "account_suspended"))

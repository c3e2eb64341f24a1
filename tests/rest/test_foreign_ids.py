"""Ids of another account, in every path and every body, are ids of nothing."""

import pytest

from tests.rest.bodies import id_paths, sample, serializer_of, with_value
from tests.rest.routes import routes, undone

NOBODYS_ID = 2**62

PATH_ROUTES = [
    pytest.param(route, noun, name, id=f"{route} {name}")
    for route in routes()
    for noun, name in route.placeholders
    if route.binding == "account"
]
BODY_ROUTES = [
    pytest.param(route, path, name, id=f"{route} {'.'.join(map(str, path))}")
    for route in routes()
    if route.takes_body and (serializer := serializer_of(route))
    for path, name in id_paths(serializer)
]


@pytest.fixture
def client(world):
    return {"admin": world.shop.workspace, "storefront": world.shop.storefront}


def ask(client, route, path, body):
    """The answer without what differs between any two requests."""
    with undone():
        response = client[route.surface].send(
            route.method, path, body if route.takes_body else None, idempotency_key="key"
        )
    return response.status_code, response.json() | {"request_id": ""} if response.content else {}


@pytest.mark.parametrize(("route", "noun", "name"), PATH_ROUTES)
def test_path_with_another_accounts_id_is_not_found(world, other_world, client, route, noun, name):
    body = sample(serializer_of(route), world)

    theirs = ask(client, route, world.path(route, **{name: other_world.value(noun, name)}), body)
    nobodys = ask(client, route, world.path(route, **{name: NOBODYS_ID}), body)

    assert theirs[0] == 404
    assert theirs == nobodys
    assert ask(client, route, world.path(route), body)[0] != 404


@pytest.mark.parametrize(("route", "path", "name"), BODY_ROUTES)
def test_body_with_another_accounts_id_is_refused_as_one_that_names_nothing(
    world, other_world, client, route, path, name
):
    body = sample(serializer_of(route), world)
    url = world.path(route)

    theirs = ask(client, route, url, with_value(body, path, other_world.row_id(name)))
    nobodys = ask(client, route, url, with_value(body, path, NOBODYS_ID))

    assert theirs == nobodys
    assert theirs[0] in {404, 409, 422}
    if theirs[0] == 422:
        assert (".".join(map(str, path)), "not_found") in {
            (error["field"], error["code"]) for error in theirs[1]["errors"]
        }
    assert ask(client, route, url, body) != theirs

"""Ids of another account, in every path, query and body, are ids of nothing; its rows change no answer.

Also those of another account of the same workspace, whose key works for both: under a handle it reaches one alone.
"""

import pytest

from tests.rest.bodies import id_paths, query_names, sample, serializer_of, with_value
from tests.rest.routes import MODELS_BY_ID_NAME, WORDS, World, rolling_back, routes

NOBODYS_ID = 2**52

PLACEHOLDERS = [
    (route, noun, name)
    for route in routes()
    for noun, name in route.placeholders
    if route.binding == "account" and name not in WORDS
]
BODY_IDS = [
    (route, path, name)
    for route in routes()
    if route.takes_body and (serializer := serializer_of(route))
    for path, name in id_paths(serializer)
]

READING_ROUTES = [route for route in routes() if route.method == "GET"]
QUERY_IDS = [
    (route, name) for route in READING_ROUTES for name in query_names(route) if name in MODELS_BY_ID_NAME
]


@pytest.fixture(params=["other_workspace", "same_workspace"])
def foreign_world(request, make_shop, world):
    """A shop with a row of every model, in another workspace or in the world's workspace."""
    workspace_id = world.shop.workspace_id if request.param == "same_workspace" else None
    return World.of(make_shop(workspace_id=workspace_id))


def ask(world, route, path, body):
    """Send a request and roll it back; return status and document without what always differs."""
    client = world.shop.workspace if route.surface == "admin" else world.shop.storefront
    with rolling_back():
        response = client.send(route.method, path, body if route.takes_body else None, idempotency_key="key")
    return response.status_code, response.json() | {"request_id": ""} if response.content else {}


def named_fields(document):
    return {(error["field"], error["code"]) for error in document.get("errors", [])}


def test_paths_with_another_accounts_id_are_not_found(world, foreign_world):
    for route, noun, name in PLACEHOLDERS:
        body = sample(serializer_of(route), world)

        theirs = ask(world, route, world.path(route, **{name: foreign_world.value(noun, name)}), body)
        nobodys = ask(world, route, world.path(route, **{name: NOBODYS_ID}), body)

        assert (str(route), name, theirs[0]) == (str(route), name, 404)
        assert theirs == nobodys


def test_paths_with_an_own_id_are_found(world):
    lost = [
        str(route)
        for route, *_ in PLACEHOLDERS
        if ask(world, route, world.path(route), sample(serializer_of(route), world))[0] in {404, 500}
    ]

    assert lost == []


def test_bodies_with_another_accounts_id_are_refused_as_if_it_named_nothing(world, foreign_world):
    for route, path, name in BODY_IDS:
        body, url, field = sample(serializer_of(route), world), world.path(route), ".".join(map(str, path))

        theirs = ask(world, route, url, with_value(body, path, foreign_world.row_id(name)))
        nobodys = ask(world, route, url, with_value(body, path, NOBODYS_ID))

        assert (str(route), field, theirs) == (str(route), field, nobodys)
        assert theirs[0] in {404, 409} or (field, "not_found") in named_fields(theirs[1]), (
            str(route),
            theirs,
        )


def test_bodies_with_an_own_id_are_not_refused_for_it(world):
    refused = [
        (str(route), path)
        for route, path, _ in BODY_IDS
        for status, document in [ask(world, route, world.path(route), sample(serializer_of(route), world))]
        if status in {404, 500} or (".".join(map(str, path)), "not_found") in named_fields(document)
    ]

    assert refused == []


def test_queries_with_another_accounts_id_answer_as_if_it_named_nothing(world, foreign_world):
    for route, name in QUERY_IDS:
        path = world.path(route)

        theirs = ask(world, route, f"{path}?{name}={foreign_world.row_id(name)}", None)
        nobodys = ask(world, route, f"{path}?{name}={NOBODYS_ID}", None)

        assert (str(route), name, theirs) == (str(route), name, nobodys)
        assert theirs[0] in {200, 404, 422}


@pytest.mark.parametrize("workspace", ["other", "same"])
def test_answers_stay_the_same_while_another_shop_fills(world, make_shop, workspace):
    shop = make_shop(workspace_id=world.shop.workspace_id if workspace == "same" else None)
    asked = [route for route in READING_ROUTES if workspace == "other" or route.binding != "workspace"]
    before = {str(route): ask(world, route, world.path(route), None) for route in asked}

    World.of(shop)

    assert {str(route): ask(world, route, world.path(route), None) for route in asked} == before

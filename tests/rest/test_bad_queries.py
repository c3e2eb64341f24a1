"""Bad query strings and paths, generated for every route: a refusal or a result, never a crash."""

from urllib.parse import quote

import pytest

from tests.problems import problem
from tests.rest.bodies import query_names
from tests.rest.routes import rolling_back, routes

READING_ROUTES = [route for route in routes() if route.method == "GET"]
ID_ROUTES = [route for route in routes() if any(name.endswith("_id") for _, name in route.placeholders)]

TEXTS = [
    "",
    " ",
    "\x00",
    "a\x00b",
    "-1",
    "0",
    "1.5",
    "9" * 30,
    "x" * 5000,
    "\U0001f984",
    "' OR 1=1; --",
    "null",
    "true",
    "[]",
]


LISTS = [route for route in READING_ROUTES if "limit" in query_names(route)]


def get(world, route, query, path=None):
    client = world.shop.workspace if route.surface == "admin" else world.shop.storefront
    with rolling_back():
        return client.send(route.method, (path or world.path(route)) + query)


def is_refused(response, *statuses):
    document = response.json()
    return response.status_code in statuses and document["status"] in statuses and document["request_id"]


def test_query_of_very_many_parameters_is_refused(world):
    unsound = [
        (str(route), response.content)
        for route in READING_ROUTES
        for response in [get(world, route, "?" + "a=1&" * 1_500)]
        if problem(response) != (400, "malformed_request")
    ]

    assert unsound == []


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text)[:12])
def test_query_with_any_text_is_answered_or_refused(world, text):
    unsound = [
        (str(route), name, response.content)
        for route in READING_ROUTES
        for name in query_names(route)
        for response in [get(world, route, f"?{name}={quote(text)}")]
        if response.status_code != 200 and not is_refused(response, 404, 409, 422)
    ]

    assert unsound == []


@pytest.mark.parametrize(
    "query", ["?limit=%ff", "?%00=%00", "?limit=1&limit=2", "?" + "a=1&" * 900, "?=", "?&&&", "?%"]
)
def test_query_that_is_odd_is_answered_or_refused(world, query):
    unsound = [
        (str(route), response.status_code)
        for route in READING_ROUTES
        for response in [get(world, route, query)]
        if response.status_code != 200 and not is_refused(response, 409, 422)
    ]

    assert unsound == []


@pytest.mark.parametrize("name", ["limit", "cursor_id"])
@pytest.mark.parametrize(
    "text", ["0", "-1", "", "abc", "1.5", "1e3", "9" * 30, "\u0661", "%2B1", " 1", "true"]
)
def test_page_with_a_bad_number_is_refused(world, name, text):
    for route in LISTS:
        response = get(world, route, f"?{name}={text}")

        assert (str(route), response.status_code) == (str(route), 422)
        assert [error["field"] for error in response.json()["errors"]] == [name]


@pytest.mark.parametrize(
    "text",
    ["0", "-1", "1.5", "abc", "9" * 19, "9" * 30, "%00", "1%00", "1%20", "%D9%A1", "1;", "..", "1%2F2"],
)
def test_path_with_what_can_be_no_id_is_not_found(world, text):
    for route in ID_ROUTES:
        name = next(name for _, name in route.placeholders if name.endswith("_id"))
        response = get(world, route, "", path=world.path(route, **{name: text}))

        assert (str(route), *problem(response)) == (str(route), 404, "not_found")


@pytest.mark.parametrize("text", ["x", "%00", "%F0%9F%A6%84", "x" * 65, "a.b", "'", "%27%20OR%201=1"])
def test_path_with_an_unknown_token_is_not_found(world, text):
    for route in READING_ROUTES:
        if any(name == "token" for _, name in route.placeholders):
            response = get(world, route, "", path=world.path(route, token=text))

            assert (str(route), *problem(response)) == (str(route), 404, "not_found")

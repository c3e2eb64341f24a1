"""In a path with a parent and a child, a child of another parent of the same account isn't found."""

import pytest

from carts.models import Cart, CartLineItem
from emails.models import EmailTemplateVersion
from tests.problems import problem
from tests.rest.bodies import sample, serializer_of
from tests.rest.routes import WORDS, rolling_back, routes
from tests.rows import make_row

# Names of second parents in paths, by the child's name.
OTHER_PARENTS = {
    "line_id": lambda shop: {"token": make_row(Cart).token},
    "version_id": lambda shop: {"template_key": "order.cancelled"},
    "code": None,  # a code that is entered in the checkout, not a row
    "market_id": None,  # a market isn't a variant's child: each variant may have a price in each market
}
NESTED = [
    (route, name)
    for route in routes()
    if len(route.placeholders) > 1 and (name := route.placeholders[-1][1]) not in WORDS
]


def test_every_child_has_another_parent_to_try():
    assert {name for _, name in NESTED} == set(OTHER_PARENTS)


@pytest.mark.parametrize(("route", "name"), [pair for pair in NESTED if OTHER_PARENTS[pair[1]]], ids=str)
def test_child_of_another_parent_is_not_found(world, route, name):
    client = world.shop.workspace if route.surface == "admin" else world.shop.storefront
    with world.shop.scope():
        others = OTHER_PARENTS[name](world.shop)
        before = snapshot()

    with rolling_back():
        own = client.send(route.method, world.path(route), sample(serializer_of(route), world))
    answer = client.send(route.method, world.path(route, **others), sample(serializer_of(route), world))

    assert own.status_code != 404
    assert problem(answer) == (404, "not_found")
    with world.shop.scope():
        assert snapshot() == before


def snapshot():
    return [list(model.objects.order_by("pk").values()) for model in (CartLineItem, EmailTemplateVersion)]

"""A GET writes nothing, on either surface, whatever the rows."""

import pytest
from django.conf import settings
from django.db import connection

from tests.rest.routes import rolling_back, routes
from tests.tenancy import reading
from tests.tenancy.ownership import written_tables
from tests.tenancy.watching import Watch

READING_ROUTES = [route for route in routes() if route.method == "GET"]


@pytest.fixture
def written():
    """The tables that the product writes during a test."""
    watch = Watch(lambda sql, frame: written_tables(sql))
    connection.execute_wrappers.append(watch)
    yield watch.found
    connection.execute_wrappers.remove(watch)


def test_every_get_of_both_surfaces_writes_nothing(world, written):
    statuses = {}
    for route in READING_ROUTES:
        client = world.shop.workspace if route.surface == "admin" else world.shop.storefront
        del written[:]
        with rolling_back():
            statuses[str(route)] = client.get(world.path(route)).status_code
        assert (str(route), written) == (str(route), [])

    assert {route.surface for route in READING_ROUTES} == {"admin", "storefront"}
    # Pages of other phases and settings answer with a refusal.
    refused = {route.rsplit("/", 1)[1]: status for route, status in statuses.items() if status != 200}
    assert refused == {"sender_domain.json": 409, "shipping_quote.json": 409}


def test_watch_finds_a_get_that_writes(rf):
    source = "def answer(request, watch, sql): watch(lambda *a: None, sql, [], False, {})"
    product = {}
    path = settings.BASE_DIR / "carts" / "imagined.py"
    exec(compile(source, path, "exec"), product)  # noqa: S102  its file's name counts
    watch = Watch(reading.check)

    for request in (rf.get("/a"), rf.post("/b")):
        product["answer"](request, watch, "UPDATE carts SET status = %s WHERE account_id = %s")
        product["answer"](request, watch, "SELECT 1 FROM carts WHERE account_id = %s FOR UPDATE")

    assert watch.found == ["GET /a writes carts: UPDATE carts SET status = %s WHERE account_id = %s"]

"""`make demo`, against the product behind a real HTTP server."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from django.db import connections

from commerce.orders.models import Order
from commerce.outbox.worker import run_due
from config.stack.client import ApiClient
from config.stack.demo import main
from config.stack.demo.sale import Sale, sell
from config.stack.errors import StackError
from config.stack.ports import find_free_port
from tests import factories
from tests.emails.conftest import mail_dir, renderer  # noqa: F401  fixtures
from tests.shops import Shop


@pytest.fixture
def sale_in(live_server, mail_dir: Path) -> Callable[[Shop], Sale]:  # noqa: F811  the fixture
    """Make a sale in the first market of a shop."""

    def sale_in(shop: Shop) -> Sale:
        return Sale(
            storefront=ApiClient.storefront(live_server.url, shop.issue("storefront")),
            admin=ApiClient.admin(live_server.url, shop.handle, shop.issue("admin")),
            shop={"handle": shop.handle},
            market={"id": str(shop.market.pk), "handle": "de", "country_code": "DE"},
            mail_dir=mail_dir,
        )

    return sale_in


@pytest.fixture
def worker(renderer) -> Iterator[None]:  # noqa: F811  the fixture
    """A worker that runs due dispatches during the test."""
    stopping = Event()

    def work() -> None:
        while not stopping.wait(0.05):
            run_due()
        connections.close_all()

    thread = Thread(target=work)
    thread.start()
    yield
    stopping.set()
    thread.join()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("worker")
def test_sale_ends_with_one_order_and_its_confirmation(shop, sale_in, capsys):
    factories.make_variant(shop, price_cents=1190)
    method = factories.make_method(shop, carrier="packeta", requires_pickup_point=True, cod_fee_cents=150)
    factories.make_rate(shop, price_cents=290, method=method)
    point = factories.make_pickup_point(zip="10115", normalised_zip="10115", is_cod_supported=True)

    sell(sale_in(shop))

    shown = capsys.readouterr().out
    with shop.scope():
        order = Order.objects.get()
    assert (order.total_cents, order.payment_method) == (2 * 1190 + 290 + 150, "cod")
    assert order.pickup_point.id == point.pk
    assert shown.count("(replayed)") == 1
    assert "Total                                                28.20 EUR" in shown
    *_, html, eml = [Path(line.removeprefix("The confirmation: ")) for line in shown.splitlines()]
    assert (html.suffix, eml.suffix) == (".html", ".eml")
    assert html.read_text() == "<p>Thank you</p>"


@pytest.mark.django_db(transaction=True)
def test_refusal_ends_the_sale_with_its_problem_document(shop, sale_in):
    factories.make_variant(shop, stock=1)

    with pytest.raises(StackError) as caught:
        sell(sale_in(shop))

    step, problem = str(caught.value).split("\n", 1)
    assert step.startswith("POST  checkouts.json")
    assert json.loads(problem)["code"] == "insufficient_inventory"
    with shop.scope():
        assert not Order.objects.exists()


def test_demo_without_a_stack_says_how_to_start_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DATA_DIR", str(tmp_path))

    status = main()

    assert status == 1
    assert capsys.readouterr().err == f"Nothing is running on {tmp_path}. Start it with: make run\n"


def test_demo_of_a_stack_that_was_killed_says_how_to_start_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    url = f"http://127.0.0.1:{find_free_port()}"
    (tmp_path / "demo.json").write_text(json.dumps({"base_url": url}))

    status = main()

    assert status == 1
    assert capsys.readouterr().err == f"Nothing answers at {url}. Start it with: make run\n"

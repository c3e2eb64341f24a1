"""Nothing is lost or done twice, whatever program is killed."""

import os
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest

from config.stack.bench.shop import open_shop
from config.stack.privileges import find_program_user, find_service_user
from config.stack.processes import PROJECT_DIR
from config.stack.programs import answers
from tests.stack.conftest import traversable_directory
from tests.storefront import ADDRESS

from .books import Books
from .crowd import shopping
from .shoppers import Purchase, Shopper
from .silence import silence
from .stack import PARENTS, PROGRAMS, Stack

# Programs are restarted many times, which takes long on a busy machine.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """Started once; every test creates its own shop."""
    with traversable_directory() as directory:
        stack = Stack.in_directory(directory)
        try:
            stack.start()
            yield stack
        finally:
            stack.stop()


def test_books_agree_after_each_program_was_killed_during_sales(stack: Stack):
    running = stack.found()
    shop = open_shop(running)

    with shopping(shop, base_url=running.base_url) as crowd:
        crowd.wait_for_purchases(3)
        for program in PROGRAMS:
            stack.kill(program)
            crowd.wait_for_purchases(6)
    stack.empty_outbox()

    books, purchases = Books.of(running, shop), crowd.purchases
    order_ids = sorted(purchase.order_id for purchase in purchases)
    assert sorted(order["id"] for order in books.orders) == order_ids
    assert sorted(delivery["reference_id"] for delivery in books.deliveries) == order_ids
    assert sorted(books.recipients) == sorted(purchase.email for purchase in purchases)
    assert {dispatch["status"] for dispatch in books.dispatches} == {"succeeded"}
    assert books.units_committed == books.units_ordered == _units_bought(purchases)
    assert {level["reserved"] for level in books.levels} == {0}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a fork server, and tells what is shared")
def test_programs_share_their_memory(stack: Stack):
    # What is restarted while there is no fork server shares nothing until it is restarted again.
    stack.stop()
    running = stack.start()
    shop = open_shop(running)

    with shopping(shop, base_url=running.base_url) as crowd:
        crowd.wait_for_purchases(20)

    used = stack.memory("forkserver", "web-1", "web-2", "worker", "renderer")
    assert used < 400 * 1024 * 1024


def test_nothing_that_serves_runs_as_root(stack: Stack):
    servers, programs = find_service_user(), find_program_user()
    ours = os.getuid()

    owners = {program: stack.owner(program) for program in PROGRAMS}

    assert {owners.pop("postgres"), owners.pop("redis")} == {servers.uid if servers else ours}
    assert set(owners.values()) == {programs.uid if programs else ours}


def test_no_log_has_personal_data(stack: Stack):
    """Also of what failed while programs were killed. PostgreSQL's own log is among them."""
    running = stack.found()
    shop = open_shop(running)
    with shopping(shop, base_url=running.base_url) as crowd:
        crowd.wait_for_purchases(3)
    stack.empty_outbox()

    logs = {path.name: path.read_text(errors="replace") for path in stack.data.logs.iterdir()}

    assert {"web-1.log", "worker.log", "postgres.log", "renderer.log"} <= logs.keys()
    marks = {
        ADDRESS["last_name"],
        ADDRESS["address1"],
        ADDRESS["phone"],
        *(sale.email for sale in crowd.purchases),
    }
    assert [(name, mark) for name, text in logs.items() for mark in marks if mark in text] == []


def test_command_runs_against_the_stack_by_one_line(stack: Stack):
    environment = stack.run.environment or {}

    done = subprocess.run(
        ["make", "--no-print-directory", "manage", "ARGS=shell --no-imports -c 'print(6 * 7)'"],
        cwd=PROJECT_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    reconciled = subprocess.run(
        [sys.executable, "-m", "config.stack", "manage", "reconcile"],
        cwd=PROJECT_DIR,
        env=environment,
        check=False,
        timeout=300,
    )

    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    assert reconciled.returncode == 0


@pytest.mark.parametrize("program", PARENTS)
def test_child_that_is_killed_is_replaced_by_its_parent(stack: Stack, program: str):
    stack.kill_child(program)


def test_port_stays_open_while_a_web_server_is_killed(stack: Stack):
    running = stack.found()
    refused = threading.Event()
    ended = threading.Event()

    def knock() -> None:
        while not ended.wait(0.01):
            try:
                socket.create_connection(running.socket_address, timeout=60).close()
            except ConnectionRefusedError:
                refused.set()

    knocking = threading.Thread(target=knock)
    knocking.start()
    try:
        stack.kill("web-1")
    finally:
        ended.set()
        knocking.join()
    assert not refused.is_set()


def test_shop_sells_beside_a_thousand_silent_connections(stack: Stack):
    running = stack.found()
    shop = open_shop(running)

    with silence(running.socket_address, number=1_000, key=shop.storefront_key):
        with shopping(shop, base_url=running.base_url) as crowd:
            crowd.wait_for_purchases(6)
        healthy = answers(running.address, "/healthz")

    assert healthy
    assert len(Books.of(running, shop).orders) == len(crowd.purchases)


def test_second_run_on_the_same_data_keeps_the_orders(stack: Stack):
    running = stack.found()
    shop = open_shop(running)
    with closing(Shopper(shop, base_url=running.base_url, name="regular")) as shopper:
        purchase = shopper.buy()
        order = shopper.order(purchase.order_token)

        stack.stop()
        ended_with = stack.run.exit_status()
        stack.start()

        assert ended_with == 0
        assert order["id"] == purchase.order_id
        assert shopper.order(purchase.order_token) == order


def _units_bought(purchases: list[Purchase]) -> Counter[str]:
    units: Counter[str] = Counter()
    for purchase in purchases:
        units[str(purchase.variant_id)] += purchase.quantity
    return units

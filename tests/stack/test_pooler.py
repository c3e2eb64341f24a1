"""The whole stack by way of PgBouncer in transaction mode, with fewer connections to PostgreSQL than clients."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from time import sleep
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
import requests
from psycopg import sql

from config.stack import roles
from config.stack.bench.shop import Shop, open_shop
from config.stack.client import ApiClient
from config.stack.processes import PROJECT_DIR
from config.stack.running import RunningStack
from config.stack.waiting import until_deadline
from tests.embedded import ROLE_PASSWORD
from tests.stack.conftest import traversable_directory
from tests.threads import run_threads

from .faults.books import Books
from .faults.crowd import shopping
from .faults.stack import Stack
from .pooler import SERVER_CONNECTIONS, Pooler, pooling

# The stack's start takes long on a busy machine.
pytestmark = pytest.mark.timeout(900)

_OUTBOX_SECONDS = 240
_WAITING = "SELECT target, status, last_error FROM outbox_dispatches WHERE finished_at IS NULL"


@dataclass(frozen=True, kw_only=True)
class PooledStack:
    stack: Stack
    pooler: Pooler
    # As a superuser, not by way of the pooler.
    database_url: str

    @property
    def running(self) -> RunningStack:
        return self.stack.found()

    def server_ports(self) -> set[int]:
        """The ports of the pooler's connections to PostgreSQL."""
        servers = self.pooler.show("SERVERS")
        return {int(server["local_port"]) for server in servers if server["database"] == self.pooler.database}

    def wait_for_worker(self) -> None:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            for _ in until_deadline(_OUTBOX_SECONDS, pause=lambda _: sleep(0.3)):
                if not (waiting := connection.execute(_WAITING).fetchall()):
                    return
        pytest.fail(f"The worker hasn't done {waiting}.")


@pytest.fixture(scope="module")
def pooled() -> Iterator[PooledStack]:
    name = f"commerce_pooled_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    superuser_url = os.environ["TEST_DATABASE_SUPERUSER_URL"]
    with ExitStack() as exits:
        directory = exits.enter_context(traversable_directory())
        pooler = exits.enter_context(pooling(directory / "pgbouncer", database=name))
        _drop_database(name)
        roles.create_database(superuser_url, name=name)
        exits.callback(_drop_database, name)
        stack = Stack.in_directory(
            directory,
            DATABASE_URL=pooler.url,
            DATABASE_OWNER_URL=_direct_url(roles.OWNER, name),
            DATABASE_LISTEN_URL=_direct_url(roles.APP, name),
            DATABASE_BEHIND_POOLER="true",
        )
        exits.callback(stack.stop)
        stack.start()
        url = urlunsplit(urlsplit(superuser_url)._replace(path=f"/{name}"))
        yield PooledStack(stack=stack, pooler=pooler, database_url=url)


def test_shops_sell_side_by_side_and_the_worker_sends_their_mail(pooled: PooledStack):
    running = pooled.running
    shops = [open_shop(running) for _ in range(3)]

    with ExitStack() as exits:
        crowds = [exits.enter_context(shopping(shop, base_url=running.base_url)) for shop in shops]
        for crowd in crowds:
            crowd.wait_for_purchases(8)
    pooled.wait_for_worker()

    for shop, crowd in zip(shops, crowds, strict=True):
        books = Books.of(running, shop)
        order_ids = sorted(purchase.order_id for purchase in crowd.purchases)
        assert sorted(order["id"] for order in books.orders) == order_ids
        assert sorted(delivery["reference_id"] for delivery in books.deliveries) == order_ids
        assert sorted(books.recipients) == sorted(purchase.email for purchase in crowd.purchases)
        assert {dispatch["status"] for dispatch in books.dispatches} == {"succeeded"}
        assert books.units_committed == books.units_ordered
    assert len(pooled.server_ports()) <= SERVER_CONNECTIONS
    status, written = _manage(pooled, "reconcile")
    assert (status, written.startswith("no differences in ")) == (0, True), written


def test_shops_read_only_their_own_rows(pooled: PooledStack):
    running = pooled.running
    shops = [open_shop(running) for _ in range(4)]

    def read(index: int) -> set[tuple[bool, int]]:
        seen = set()
        for number in range(25):
            turn = (index + number) % 4
            shop, stranger = shops[turn], shops[turn - 1]
            found = _admin(running, shop).get("markets.json")["markets"]
            is_own = [market["id"] for market in found] == [str(shop.market_id)]
            seen.add((is_own, _find_status(running, shop, f"markets/{stranger.market_id}.json")))
        return seen

    assert run_threads(8, read) == [{(True, 404)}] * 8


def test_worker_listens_on_a_connection_of_its_own(pooled: PooledStack):
    with psycopg.connect(pooled.database_url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT client_port FROM pg_stat_activity WHERE datname = %s AND query LIKE 'LISTEN %%'",
            [pooled.pooler.database],
        ).fetchall()

    assert len(rows) == 1
    assert rows[0][0] not in pooled.server_ports()


def test_command_has_its_own_time_outs_in_each_transaction(pooled: PooledStack):
    show = (
        "from django.db import connection, transaction\n"
        "with transaction.atomic(), connection.cursor() as cursor:\n"
        "    cursor.execute('SHOW statement_timeout'); print(cursor.fetchone()[0])"
    )

    assert _manage(pooled, "shell", "--no-imports", "-c", show) == (0, "0\n")
    # The connection of the server that it has used is the next client's.
    with psycopg.connect(pooled.pooler.url, autocommit=True, prepare_threshold=None) as connection:
        assert connection.execute("SHOW statement_timeout").fetchone() == ("30s",)


def _admin(running: RunningStack, shop: Shop) -> ApiClient:
    return ApiClient.admin(running.base_url, shop.handle, shop.admin_key)


def _find_status(running: RunningStack, shop: Shop, path: str) -> int:
    response = requests.get(
        f"{_admin(running, shop).root}/{path}",
        headers={"Authorization": f"Bearer {shop.admin_key}"},
        timeout=60,
    )
    return response.status_code


def _manage(pooled: PooledStack, *arguments: str) -> tuple[int, str]:
    """Return the exit status of a command of the stack, and what it wrote."""
    done = subprocess.run(
        [sys.executable, "-m", "config.stack", "manage", *arguments],
        cwd=PROJECT_DIR,
        env=pooled.stack.run.environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout


def _direct_url(role: str, database: str) -> str:
    server = urlsplit(os.environ["TEST_DATABASE_SUPERUSER_URL"])
    return f"postgres://{role}:{ROLE_PASSWORD}@{server.hostname}:{server.port or 5432}/{database}"


def _drop_database(name: str) -> None:
    with psycopg.connect(os.environ["TEST_DATABASE_SUPERUSER_URL"], autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

"""Time-outs of PostgreSQL: each kind of process has its own, and a request that hits one can be sent again."""

import os
import subprocess
import sys

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections

from config.stack.programs import LONG_TIMEOUTS
from tests import factories
from tests.problems import problem

NAMES = ("statement_timeout", "transaction_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
SHOW = f"""
import django; django.setup()
from django.db import connection
with connection.cursor() as cursor:
    for name in {NAMES}:
        cursor.execute("SHOW " + name); print(cursor.fetchone()[0], end=" ")
"""


def read_timeouts(*command, **environment):
    """Return the time-outs of a process; the suite's connections have none for whole transactions."""
    inherited = {name: value for name, value in os.environ.items() if not name.endswith("_TIMEOUT_S")}
    done = subprocess.run(
        [sys.executable, *command],
        env=inherited | {"DJANGO_SETTINGS_MODULE": "config.settings"} | environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_requests_have_those_of_the_role():
    assert read_timeouts("-c", SHOW) == ["30s", "1min", "10s", "1min"]


def test_workers_may_take_longer():
    assert read_timeouts("-c", SHOW, **LONG_TIMEOUTS) == ["5min", "10min", "10s", "1min"]


def test_commands_wait_for_locks_but_not_for_ever():
    assert read_timeouts("manage.py", "shell", "--no-imports", "-c", SHOW) == ["0", "0", "1min", "10min"]


SHOW_IN_TRANSACTION = f"""
import django; django.setup()
from django.db import connection, transaction
with transaction.atomic(), connection.cursor() as cursor:
    for name in {NAMES}:
        cursor.execute("SHOW " + name); print(cursor.fetchone()[0], end=" ")
with connection.cursor() as cursor:
    cursor.execute("SHOW statement_timeout"); print(cursor.fetchone()[0])
"""
SLEEP = """
import django; django.setup()
from django.db import connection, transaction
try:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(100)")
except Exception as error:
    print(error)
"""


def test_behind_a_pooler_each_transaction_sets_them():
    found = read_timeouts("-c", SHOW_IN_TRANSACTION, DATABASE_BEHIND_POOLER="true", **LONG_TIMEOUTS)

    # Outside of transactions those of the role count.
    assert found == ["5min", "10min", "10s", "1min", "30s"]


def test_behind_a_pooler_the_clock_of_a_transaction_is_reset():
    found = read_timeouts("-c", SLEEP, DATABASE_BEHIND_POOLER="true", DATABASE_TRANSACTION_TIMEOUT_S="1")

    assert " ".join(found).startswith("terminating connection due to transaction timeout")


def test_environment_wins_over_a_commands_own():
    found = read_timeouts("manage.py", "shell", "--no-imports", "-c", SHOW, DATABASE_STATEMENT_TIMEOUT_S="7")

    assert found == ["7s", "0", "1min", "10min"]


@pytest.fixture
def impatient(shop):
    """A shop whose requests wait only a moment for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '50ms'")
    yield shop
    connections["default"].close()
    # The setting stays with its connection, which another test would get from the pool.
    connections["default"].close_pool()


@pytest.mark.django_db(transaction=True)
def test_request_that_waits_too_long_for_a_lock_can_be_sent_again(impatient):
    shop = impatient
    variant = factories.make_variant(shop)
    cart = shop.storefront.post("carts.json", {"market_id": shop.market.id}).json()["cart"]
    line = {"variant_id": variant.id, "quantity": 1}
    path = f"carts/{cart['token']}/lines.json"

    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as holder:
        holder.execute("SELECT set_config('commerce.account_id', %s, true)", [str(shop.id)])
        holder.execute("SELECT 1 FROM carts WHERE id = %s FOR UPDATE", [cart["id"]])
        refused = shop.storefront.post(path, line, idempotency_key="once-and-again-1")
        holder.rollback()
    answered = shop.storefront.post(path, line, idempotency_key="once-and-again-1")

    assert problem(refused) == (503, "busy")
    assert refused.headers["Retry-After"] == "1"
    assert answered.status_code == 200
    assert [item["quantity"] for item in answered.json()["cart"]["line_items"]] == [1]

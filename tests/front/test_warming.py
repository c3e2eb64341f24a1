"""What a process does before its first request."""

import json
import os
import subprocess
import sys

import pytest

from commerce.metrics import shared_registry
from config.front.handler import django_application
from config.front.warming import warm_up
from config.stack.processes import PROJECT_DIR
from tests import factories
from tests.storefront import ADDRESS

# Nothing listens there.
NOWHERE = {
    "DATABASE_URL": "postgres://commerce_app:secret@127.0.0.1:1/commerce",
    "REDIS_URL": "redis://127.0.0.1:1/0",
}


@pytest.mark.django_db(transaction=True)
def test_first_requests_find_everything_loaded(shop):
    variant, rate = factories.make_variant(shop), factories.make_rate(shop)
    given = {
        "handle": shop.handle,
        "storefront_key": shop.issue("storefront"),
        "admin_key": shop.issue("admin"),
        "market_id": shop.market.pk,
        "variant_id": variant.pk,
        "shipping": {"shipping_method_id": rate.method_id, "shipping_rate_id": rate.pk},
        "address": ADDRESS,
    }

    done = run("-m", "tests.front.first_requests", given=json.dumps(given))

    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_warming_up_starts_no_thread_and_needs_neither_database_nor_redis():
    done = run(
        "-c",
        "import config.rsgi, threading; from django.db import connections; "
        "print(threading.active_count(), connections['default'].connection, "
        "connections['default']._connection_pools)",
        **NOWHERE,
    )

    assert (done.stdout, done.stderr) == ("1 None {}\n", "")


def test_warming_up_is_not_counted():
    before = count_requests()

    warm_up(django_application(), host="localhost")

    assert count_requests() == before


def count_requests() -> float:
    return sum(
        sample.value
        for metric in shared_registry().collect()
        for sample in metric.samples
        if sample.name == "commerce_requests_total"
    )


def run(*command: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=PROJECT_DIR,
        env=os.environ | environment,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

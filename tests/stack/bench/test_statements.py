import os
import subprocess
import sys

import pytest

from config.stack.bench.shop import Shop
from config.stack.bench.shopping import (
    APPLY_CODE,
    HEALTH,
    NOTHING,
    READ_CART,
    STEPS_OF_JOURNEY,
    Shopping,
)
from config.stack.bench.statements import count_statements
from config.stack.processes import PROJECT_DIR
from tests import factories

# The requests use connections of the pool, as those of the web process do.
pytestmark = pytest.mark.django_db(transaction=True)


def test_statements_of_every_operation_are_counted(shop):
    variants = [factories.make_variant(shop) for _ in range(3)]
    rate = factories.make_rate(shop)
    measured = Shop(
        handle=shop.handle,
        admin_key=shop.issue("admin"),
        storefront_key=shop.issue("storefront"),
        market_id=shop.market.pk,
        variant_ids=[variant.pk for variant in variants],
        method_id=rate.method_id,
        rate_id=rate.pk,
        discount_code=factories.make_discount(shop, code="TEN").code,
    )

    counts = count_statements(Shopping(measured, host="localhost"))

    idle = {NOTHING, HEALTH}
    assert counts.keys() >= {*idle, READ_CART, APPLY_CODE, *STEPS_OF_JOURNEY}
    assert {operation for operation, count in counts.items() if count == 0} == idle


def test_programs_that_count_need_only_the_environment_of_the_stack():
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    asks_nothing = (
        "from config.stack.bench import in_process, shopping; "
        "print(in_process.send(shopping.Shopping(None, host='localhost').do_nothing()).status)"
    )

    done = subprocess.run(
        [sys.executable, "-c", asks_nothing],
        cwd=PROJECT_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (done.stdout, done.returncode) == ("404\n", 0), done.stderr

"""docs/clients.md, "Python": the generated client has no warnings, its types fit, and it makes a whole sale."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from commerce.orders.models import Order
from tests.generated.conftest import DOCUMENTED_URL, PRINTED, read_block

pytestmark = pytest.mark.django_db(transaction=True)

TOOLS = Path(sys.executable).parent


def run(*command: str, cwd: Path) -> str:
    environment = os.environ | {"PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}", "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_documented_client_makes_a_sale(shop, live_server, folder):
    command = read_block("sh", "Python").replace(DOCUMENTED_URL, live_server.url)
    (folder / "journey.py").write_text(read_block("python", "Python"))

    run(*shlex.split(command), "--fail-on-warning", cwd=folder)
    # The generator's own code isn't strictly typed; what it makes of the document is.
    run("mypy", "--strict", "--follow-imports=silent", "--cache-dir=.mypy_cache", "journey.py", cwd=folder)
    shown = run(sys.executable, "journey.py", cwd=folder)

    assert shown == PRINTED
    with shop.scope():
        order = Order.objects.get()
    assert (order.total_cents, order.payment_method) == (2 * 1190 + 490, "cod")

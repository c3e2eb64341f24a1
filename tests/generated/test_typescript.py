"""docs/clients.md, "TypeScript": the generated client's types fit, and it makes a whole sale."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from commerce.orders.models import Order
from tests.generated.conftest import DOCUMENTED_URL, PRINTED, read_block

pytestmark = pytest.mark.django_db(transaction=True)

PACKAGE = Path(__file__).parent / "typescript"
# The packages come from outside, which may be silent: each is asked for once.
INSTALL_SECONDS = 90
INSTALL = (
    "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline",
    "--fetch-retries=0", "--fetch-timeout=10000",
)  # fmt: skip


def install(folder: Path) -> None:
    """Install the locked packages. Skips the test, with the reason, where Node.js or its packages can't be had."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("Node.js or npm is missing. Debian has them in the packages nodejs and npm.")
    shutil.copytree(PACKAGE, folder, dirs_exist_ok=True)
    try:
        subprocess.run(
            INSTALL, cwd=folder, capture_output=True, text=True, check=True, timeout=INSTALL_SECONDS
        )
    except subprocess.CalledProcessError as error:
        pytest.skip(f"The packages of tests/generated can't be installed: {error.stderr.strip()[-300:]}")
    except subprocess.TimeoutExpired:
        pytest.skip(f"The packages of tests/generated aren't installed after {INSTALL_SECONDS} s.")


def run(*command: str, cwd: Path) -> str:
    environment = os.environ | {"NO_PROXY": "127.0.0.1", "NO_COLOR": "1", "npm_config_offline": "true"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_documented_client_makes_a_sale(shop, live_server, folder):
    command = read_block("sh", "TypeScript").replace(DOCUMENTED_URL, live_server.url)
    install(folder)
    (folder / "journey.ts").write_text(read_block("ts", "TypeScript"))

    generated = run(*shlex.split(command), cwd=folder)
    run("npx", "tsc", "--noEmit", "--strict", cwd=folder)
    run("npx", "tsc", cwd=folder)
    shown = run("node", "journey.js", cwd=folder)

    assert "warn" not in generated.lower().replace("npm warn", "")  # npm's are about its own configuration
    assert shown == PRINTED
    with shop.scope():
        order = Order.objects.get()
    assert (order.total_cents, order.payment_method) == (2 * 1190 + 490, "cod")


def test_lock_names_no_registry():
    lock = (PACKAGE / "package-lock.json").read_text()

    assert '"integrity": "sha512-' in lock
    assert '"resolved"' not in lock

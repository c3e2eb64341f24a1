import json
import os
import platform
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

import requests

from config.stack.errors import StackError
from config.stack.processes import PROJECT_DIR
from config.stack.running import RunningStack

from .load import Measurement
from .measuring import JOURNEY, Bench, measure
from .report import HEADER, as_line, as_markdown, cells_of, replace_block
from .shop import Shop, close_shop, open_shop
from .shopping import STEPS_OF_JOURNEY, Shopping

_DOCUMENT = PROJECT_DIR / "docs" / "performance.md"
_COUNT_SECONDS = 60


def main() -> int:
    """Return the exit status: 1 if no stack is running, or a request is refused."""
    parser = ArgumentParser(prog="python -m config.stack bench")
    parser.add_argument(
        "--seconds", type=float, default=4, help="seconds to measure each operation (default: 4)"
    )
    parser.add_argument("--clients", type=int, default=8, help="concurrent clients (default: 8)")
    parser.add_argument("--write", action="store_true", help=f"write the figures to {_DOCUMENT.name}")
    # After the module and the name of the command.
    options = parser.parse_args(sys.argv[2:])
    try:
        stack = RunningStack.find(os.environ)
        shop = open_shop(stack)
        try:
            lines = _measure_all(stack, shop, options)
        finally:
            close_shop(stack, shop)
        if options.write:
            replace_block(_DOCUMENT, lines)
    except (StackError, OSError, subprocess.SubprocessError, requests.RequestException) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _measure_all(stack: RunningStack, shop: Shop, options: Namespace) -> list[str]:
    """Measure each operation and print its line at once. Returns the whole table as Markdown."""
    statements = _count_statements(stack, shop)
    bench = Bench(stack.socket_address, seconds=options.seconds, clients=options.clients)
    print(as_line(HEADER), flush=True)
    measured: list[Measurement] = []
    rows: list[tuple[str, ...]] = []
    for operation, measurement in measure(bench, Shopping(shop, host=stack.address)):
        measured.append(measurement)
        rows.append(
            cells_of(operation, measurement, statements=statements[operation], first_rate=measured[0].rate)
        )
        print(as_line(rows[-1]), flush=True)
    notes = _describe_method(measured[0], options)
    print("", *notes, sep="\n")
    return [*as_markdown(rows), "", *notes]


def _count_statements(stack: RunningStack, shop: Shop) -> Mapping[str, int]:
    """Count the statements of each operation, in another process that loads Django."""
    done = subprocess.run(
        [sys.executable, "-m", "config.stack.bench.statements"],
        cwd=PROJECT_DIR,
        env=stack.environment(),
        input=json.dumps(asdict(shop)),
        capture_output=True,
        text=True,
        check=False,
        timeout=_COUNT_SECONDS,
    )
    if done.returncode:
        raise StackError(f"Counting the SQL statements failed.\n{done.stderr}")
    counts: dict[str, int] = json.loads(done.stdout)
    return counts | {JOURNEY: sum(counts[step] for step in STEPS_OF_JOURNEY)}


def _describe_method(first: Measurement, options: Namespace) -> list[str]:
    """Describe how it was measured, and how fast the load generator could have been."""
    own_ms = first.own_time / max(len(first.latencies), 1) * 1000
    machine = f"{os.cpu_count()} processors ({platform.machine()}) shared by everything, including the load generator"
    effort = f"{options.clients} concurrent clients, {options.seconds:g} s per operation"
    ceiling = f"so it could send at most {1000 / own_ms:,.0f} per second"
    return [
        f"Measured {datetime.now(UTC):%Y-%m-%d}: {machine}; {effort}.",
        f"The load generator used {own_ms:.3f} ms of processor time per request to /healthz, {ceiling}.",
    ]

import json
import os
import platform
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain

import requests

from config.stack.errors import StackError
from config.stack.processes import PROJECT_DIR
from config.stack.running import RunningStack

from .journeys import ACCOUNTS, JOURNEYS, SENT, measure_journeys
from .load import Measurement
from .measuring import Bench, measure_operations
from .report import (
    HEADER,
    OF_PROCESSES,
    Cells,
    as_line,
    as_markdown,
    cells_of,
    replace_block,
    rows_of_processes,
)
from .shop import Shop, opened_shops
from .shopping import COMPLETE, HEALTH, NOTHING, STEPS_OF_JOURNEY, Shopping
from .usage import Usage
from .worker import Worker

_DOCUMENT = PROJECT_DIR / "docs" / "performance.md"
_COUNT_SECONDS = 60
_PROFILE_SECONDS = 900
# Of the time of an operation.
_PART_OF_NOTHING = 0.5


def main() -> int:
    """Return the exit status: 1 if no stack is running, or a request is refused."""
    parser = ArgumentParser(prog="python -m config.stack bench")
    parser.add_argument(
        "--seconds", type=float, default=4, help="seconds to measure each operation (default: 4)"
    )
    parser.add_argument("--clients", type=int, default=8, help="concurrent clients (default: 8)")
    parser.add_argument(
        "--profile", action="store_true", help="show instead where the web's time of a journey goes"
    )
    parser.add_argument("--write", action="store_true", help=f"write the figures to {_DOCUMENT.name}")
    # After the module and the name of the command.
    options = parser.parse_args(sys.argv[2:])
    try:
        stack = RunningStack.find(os.environ)
        if options.profile:
            name, lines = "profile", _profile(stack)
        else:
            name, lines = "figures", _measure_all(stack, options)
        if options.write:
            replace_block(_DOCUMENT, name, lines)
    except (StackError, OSError, subprocess.SubprocessError, requests.RequestException) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _measure_all(stack: RunningStack, options: Namespace) -> list[str]:
    """Measure each operation and print its line at once. Returns all tables as Markdown."""
    with opened_shops(stack, ACCOUNTS) as shops:
        counts: dict[str, int] = json.loads(_run("statements", stack, shops[0], seconds=_COUNT_SECONDS))
        of_journey = sum(counts[step] for step in STEPS_OF_JOURNEY)
        statements = counts | dict.fromkeys(JOURNEYS, of_journey)
        usage, worker = Usage(stack.data.pids), Worker(stack, shops)
        bench = Bench(stack.socket_address, usage, seconds=options.seconds, clients=options.clients)
        shopping = [Shopping(shop, host=stack.address) for shop in shops]
        print(as_line(HEADER), flush=True)
        measured: dict[str, Measurement] = {}
        rows: list[Cells] = []
        # The machine isn't always equally fast, so each operation is compared with what is measured right beside it.
        beside = Bench(
            stack.socket_address,
            usage,
            seconds=options.seconds * _PART_OF_NOTHING,
            clients=options.clients,
        )
        idle: list[Measurement] = []
        for operation, measurement in chain(
            measure_operations(bench, shopping[0]), measure_journeys(bench, shopping, worker)
        ):
            measured[operation] = measurement
            if operation == COMPLETE:
                # Its emails would take time from requests that do nothing.
                worker.wait_until_idle()
            idle.append(beside.repeated(NOTHING, shopping[0].do_nothing).measurement)
            rows.append(
                cells_of(
                    operation,
                    measurement,
                    statements=statements[operation],
                    base=measurement if operation == NOTHING else idle[-2] + idle[-1],
                    requests=len(STEPS_OF_JOURNEY) if operation in JOURNEYS else 1,
                )
            )
            print(as_line(rows[-1]), flush=True)
        # Leave no work behind, which would disturb what is measured next.
        worker.wait_until_idle()
        processes = list(rows_of_processes((measured[journey] for journey in JOURNEYS), usage.read_memory()))
    notes = _describe_method(measured, idle, options)
    print("", *map(as_line, [OF_PROCESSES, *processes]), "", *notes, sep="\n")
    tables = [*as_markdown(HEADER, rows), "", *as_markdown(OF_PROCESSES, processes)]
    return [*tables, "", *notes]


def _profile(stack: RunningStack) -> list[str]:
    """Profile journeys in another process. Prints and returns its tables, which are Markdown."""
    with opened_shops(stack, 1) as shops:
        tables = _run("profiling", stack, shops[0], seconds=_PROFILE_SECONDS)
    print(tables)
    return tables.splitlines()


def _run(module: str, stack: RunningStack, shop: Shop, *, seconds: float) -> str:
    """Run a module of this package in another process, which loads Django. Returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", f"config.stack.bench.{module}"],
        cwd=PROJECT_DIR,
        env=stack.environment(),
        input=json.dumps(asdict(shop)),
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    if done.returncode:
        raise StackError(f"{module} failed.\n{done.stderr}")
    return done.stdout


def _describe_method(
    measured: Mapping[str, Measurement], idle: Sequence[Measurement], options: Namespace
) -> Sequence[str]:
    """Describe how it was measured, how busy the load generator was, and how far the worker lagged behind.

    `idle` are the measurements of nothing between the others, which show how steadily the machine worked.
    """
    machine = f"{os.cpu_count()} processors ({platform.machine()}) shared by everything, including the load generator"
    effort = f"{options.clients} concurrent clients, {options.seconds:g} s per operation"
    busy = [f"{measured[name].own_time / measured[name].elapsed:.0%}" for name in (NOTHING, HEALTH)]
    sent = measured[SENT]
    rates = [measurement.rate for measurement in idle]
    under_load = len(sent.latencies) / (sent.elapsed - sent.finish_time)
    load = f"The load generator used {busy[0]} of a processor for requests that do nothing, and {busy[1]} for /healthz."
    orders = f"With emails, one account made {under_load:.1f} orders per second under load"
    return [
        f"Measured {datetime.now(UTC):%Y-%m-%d}: {machine}; {effort}.",
        load,
        f"Between the operations, requests that do nothing reached {min(rates):,.0f} to {max(rates):,.0f} per second.",
        f"{orders}; the last email was sent {sent.finish_time:.1f} s after the last order.",
    ]

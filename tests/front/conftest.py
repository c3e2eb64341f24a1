import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from config.stack.ports import LOOPBACK, find_free_port
from config.stack.processes import Service
from config.stack.programs import CONNECTION_OPTIONS, answers


def front_of(
    name: str, *, port: int, log: Path, environment: Mapping[str, str], seconds_to_end: int = 1
) -> Service:
    """Start granian with one process that serves `name` of tests/front/served.py."""
    listen = ["--interface", "rsgi", "--host", LOOPBACK, "--port", str(port)]
    return Service(
        name="front",
        command=[
            *(sys.executable, "-m", "granian", *listen, "--log-level", "warning"),
            *("--workers-kill-timeout", str(seconds_to_end), *CONNECTION_OPTIONS),
            f"tests.front.served:{name}",
        ],
        log=log,
        environment={**os.environ, **environment},
        is_ready=lambda: answers(f"{LOOPBACK}:{port}", "/healthz"),
    )


@contextmanager
def served(name: str, *, log: Path, **environment: str) -> Iterator[int]:
    """The port of a server for this test only."""
    port = find_free_port()
    service = front_of(name, port=port, log=log, environment=environment)
    service.start()
    try:
        service.wait_until_ready(seconds=90)
        yield port
    finally:
        service.stop()


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., int]]:
    """Start a server for the session: `serve("showing")`."""
    with ExitStack() as stack:

        def start(name: str, *, log: Path | None = None, **environment: str) -> int:
            directory = tmp_path_factory.mktemp(name)
            environment.setdefault("FRONT_GATE", str(directory / "gate"))
            return stack.enter_context(served(name, log=log or directory / "log", **environment))

        yield start


@pytest.fixture(scope="session")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """While this file exists, requests with the query `wait` wait. Each writes its path to `begun` next to it."""
    return tmp_path_factory.mktemp("gate") / "closed"


@pytest.fixture(scope="session")
def showing(serve: Callable[..., int], gate: Path) -> int:
    return serve("showing", FRONT_GATE=str(gate))

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config.stack.data import DataDirectory
from config.stack.ports import free_port
from config.stack.postgres import Cluster
from config.stack.processes import Process


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that the servers' user can get through, which pytest's own are not when root runs it."""
    directory = Path(tempfile.mkdtemp(prefix="commerce-stack-"))
    directory.chmod(0o711)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def data(place: Path) -> DataDirectory:
    data = DataDirectory(place / "data")
    data.prepare()
    return data


@pytest.fixture
def cluster(place: Path) -> Cluster:
    """Nothing of it exists yet."""
    return Cluster(data_dir=place / "postgres", port=free_port(), password="secret", is_durable=False)


@pytest.fixture
def started() -> Iterator[Callable[[Process], Process]]:
    """Starts a process that doesn't outlive the test."""
    processes: list[Process] = []

    def start(process: Process) -> Process:
        processes.append(process)
        process.start()
        return process

    yield start
    for process in processes:
        process.kill()

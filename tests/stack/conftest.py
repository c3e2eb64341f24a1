import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from config.stack.data import DataDirectory
from config.stack.ports import find_free_port
from config.stack.postgres import Cluster
from config.stack.processes import Process


@pytest.fixture
def place() -> Iterator[Path]:
    with traversable_directory() as directory:
        yield directory


@contextmanager
def traversable_directory() -> Iterator[Path]:
    """A directory that the servers' user can access, unlike pytest's own when root runs it."""
    directory = Path(tempfile.mkdtemp(prefix="commerce-stack-"))
    directory.chmod(0o711)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def data(place: Path) -> DataDirectory:
    data = DataDirectory(place / "data")
    data.prepare()
    return data


@pytest.fixture(scope="session")
def _made_cluster() -> Iterator[Cluster]:
    """Created once, because it takes longer than everything else here."""
    with traversable_directory() as directory:
        cluster = Cluster(data_dir=directory / "postgres", port=find_free_port(), password="secret")
        cluster.service(log=directory / "log")
        yield cluster


@pytest.fixture
def cluster(_made_cluster: Cluster, place: Path) -> Cluster:
    """A database cluster that isn't running."""
    shutil.copytree(_made_cluster.data_dir, place / "postgres")
    return replace(_made_cluster, data_dir=place / "postgres", port=find_free_port(), is_durable=False)


@pytest.fixture
def started() -> Iterator[Callable[[Process], Process]]:
    """Start a process that is stopped after the test."""
    processes: list[Process] = []

    def start(process: Process) -> Process:
        processes.append(process)
        process.start()
        return process

    yield start
    for process in processes:
        process.kill()

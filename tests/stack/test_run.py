"""`make run` without starting anything, and the contents of a data directory."""

import json
import os
import socket
import subprocess
import sys

import pytest

from config.stack.data import DataDirectory
from config.stack.environment import find_external_servers
from config.stack.errors import StackError
from config.stack.memory import load_memory
from config.stack.ports import find_free_port, parse_web_port
from config.stack.processes import PROJECT_DIR


def test_second_run_on_the_same_data_is_refused(data: DataDirectory):
    with data.hold_lock():
        done = _run(data, port=find_free_port())

    assert done.returncode == 1
    assert done.stderr == f"Another run (process {os.getpid()}) is using {data.root}; stop it first.\n"
    assert not data.memory.exists()


def test_busy_port_is_refused_before_anything_starts(data: DataDirectory):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = _run(data, port=port)

    assert done.returncode == 1
    assert (
        done.stderr == f"Port {port} is in use. Choose another one, for example: PORT={port + 1} make run\n"
    )
    assert not data.memory.exists()
    assert list(data.pids.iterdir()) == []


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1"])
def test_port_that_is_none_is_refused(port: str):
    with pytest.raises(StackError) as refused:
        parse_web_port(port)

    assert str(refused.value) == f"PORT must be a number between 1 and 65535, not '{port}'."


def test_lock_is_free_again_after_its_holder(data: DataDirectory):
    with data.hold_lock():
        pass

    with data.hold_lock(), pytest.raises(StackError), data.hold_lock():
        pass


def test_one_database_url_without_the_other_is_refused():
    with pytest.raises(StackError, match="only DATABASE_URL is set"):
        find_external_servers({"DATABASE_URL": "postgres://somewhere/commerce"})


def test_secrets_and_ports_are_kept(data: DataDirectory):
    first = load_memory(data.memory, web_port=8000)

    again = load_memory(data.memory, web_port=8000)

    assert first.is_new
    assert not again.is_new
    assert json.loads(data.memory.read_text())["secret_key"] == first.secret_key == again.secret_key
    assert (again.postgres_port, again.redis_port) == (first.postgres_port, first.redis_port)
    assert data.memory.stat().st_mode & 0o777 == 0o600


def test_port_that_others_have_taken_moves(data: DataDirectory):
    first = load_memory(data.memory, web_port=8000)

    with socket.create_server(("127.0.0.1", first.redis_port)):
        again = load_memory(data.memory, web_port=8000)

    assert again.redis_port != first.redis_port
    assert again.postgres_port == first.postgres_port
    assert again.redis_password == first.redis_password


def _run(data: DataDirectory, *, port: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "config.stack", "run"],
        cwd=PROJECT_DIR,
        env=os.environ | {"DATA_DIR": str(data.root), "PORT": str(port)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

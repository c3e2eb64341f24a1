"""The whole stack, started by its own command on a new data directory, and faults to inject."""

import os
import re
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from urllib.parse import urlsplit

import psycopg
import pytest

from config.stack import roles
from config.stack.data import DataDirectory
from config.stack.memory import Memory
from config.stack.ports import find_free_port
from config.stack.processes import Service
from config.stack.proctable import group_members
from config.stack.programs import answers
from config.stack.running import RunningStack
from config.stack.servers import Servers
from config.stack.waiting import until_deadline

PROGRAMS = ("forkserver", "web-1", "web-2", "worker", "beat", "renderer", "redis", "postgres")
# Programs whose children do the work.
PARENTS = ("web-1", "worker", "renderer")

# The suite's own settings must not reach the stack, which would use the suite's servers.
_KEPT_NAMES = ("PATH", "HOME", "LANG", "TMPDIR", "PG_BIN")
_START_SECONDS = 180
_STOP_SECONDS = 20
_RECOVERY_SECONDS = 120
# Fewer than the attempts of a dispatch.
_HOURS = 4
_HOUR_SECONDS = 60
_POLL_SECONDS = 0.3
_PASS_AN_HOUR = """
    UPDATE outbox_dispatches
       SET due_at = due_at - interval '1 hour', locked_until = locked_until - interval '1 hour'
     WHERE finished_at IS NULL
"""
_WAITING = "SELECT status, attempts, last_error FROM outbox_dispatches WHERE finished_at IS NULL"


@dataclass(frozen=True, kw_only=True)
class Stack:
    data: DataDirectory
    run: Service

    @classmethod
    def in_directory(cls, directory: Path, **environment: str) -> "Stack":
        data = DataDirectory(directory / "data")
        kept = {name: os.environ[name] for name in _KEPT_NAMES if name in os.environ}
        run = Service(
            name="run",
            command=[sys.executable, "-m", "config.stack", "run"],
            log=directory / "run.log",
            environment=kept | {"DATA_DIR": str(data.root), "PORT": str(find_free_port())} | environment,
            is_ready=data.demo.exists,
        )
        return cls(data=data, run=run)

    def start(self) -> RunningStack:
        """Start the stack. Raises `StackError` with the command's output if it ends or takes too long."""
        self.run.start()
        self.run.wait_until_ready(seconds=_START_SECONDS)
        return self.found()

    def found(self) -> RunningStack:
        return RunningStack.find({"DATA_DIR": str(self.data.root)})

    def stop(self) -> None:
        self.run.stop(seconds=_STOP_SECONDS)

    def kill(self, program: str) -> None:
        """Kill a program, and wait until it is replaced and everything answers."""
        running, servers, killed = self.found(), self._servers(), self._pid(program)
        assert killed, f"{program} isn't running."
        os.kill(killed, signal.SIGKILL)
        for _ in until_deadline(_RECOVERY_SECONDS):
            if self._pid(program) not in {None, killed} and _is_whole(running, servers):
                return
        pytest.fail(f"{program} was not back {_RECOVERY_SECONDS} s after its end.\n{self.run.log_tail()}")

    def owner(self, program: str) -> int:
        """Return the user id under which a program runs."""
        return Path(f"/proc/{self._pid(program)}").stat().st_uid

    def memory(self, *programs: str) -> int:
        """Return how many bytes these programs use together. What several processes share is divided among them."""
        leaders = [self._pid(program) for program in programs]
        members = [process.pid for leader in leaders if leader for process in group_members(leader)]
        return sum(_proportional_size(pid) for pid in members)

    def kill_child(self, program: str) -> None:
        """Kill a child, and wait until its parent has started another."""
        parent = self._pid(program)
        assert parent, f"{program} isn't running."
        before = _children(parent)
        os.kill(min(before), signal.SIGKILL)
        for _ in until_deadline(_RECOVERY_SECONDS):
            if len(_children(parent)) == len(before) and min(before) not in _children(parent):
                break
        else:
            pytest.fail(f"A child of {program} was not replaced.\n{self.run.log_tail()}")
        assert self._pid(program) == parent

    def empty_outbox(self) -> None:
        """Simulate hours, a few seconds each, until nothing waits: leases of lost workers and retries take long."""
        superuser_url = self._servers().cluster.superuser_url
        with psycopg.connect(superuser_url, dbname=roles.DATABASE, autocommit=True) as connection:
            for _ in range(_HOURS):
                connection.execute(_PASS_AN_HOUR)
                waiting = _waiting_after_an_hour(connection)
                if not waiting:
                    return
        pytest.fail(f"{len(waiting)} dispatches are still waiting after {_HOURS} hours: {waiting}")

    def _pid(self, program: str) -> int | None:
        """Return a program's process id; None between its end and its next start."""
        try:
            pid, *_ = self.data.pid_file(program).read_text().split()
        except (FileNotFoundError, ValueError):
            return None
        return int(pid)

    def _servers(self) -> Servers:
        return Servers.of(self.data, Memory.read(self.data.memory))


def _is_whole(running: RunningStack, servers: Servers) -> bool:
    """Whether the web server (and so the database), Redis and the renderer are ready."""
    renderer = urlsplit(running.demo["renderer_url"]).netloc
    return answers(running.address, "/readyz") and servers.redis.answers() and answers(renderer, "/healthz")


def _proportional_size(pid: int) -> int:
    sizes = re.findall(r"^Pss: +(\d+) kB$", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return int(sizes[0]) * 1024


def _children(parent: int) -> set[int]:
    return {process.pid for process in group_members(parent)} - {parent}


def _waiting_after_an_hour(connection: psycopg.Connection) -> list[tuple]:
    """Return what still waits after an hour; empty once nothing waits."""
    for _ in until_deadline(_HOUR_SECONDS, pause=lambda _: sleep(_POLL_SECONDS)):
        waiting = connection.execute(_WAITING).fetchall()
        if not waiting:
            break
    return waiting

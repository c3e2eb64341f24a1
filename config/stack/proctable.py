"""Looks up running processes by process group and by working directory."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from config.stack.waiting import Pause, until_deadline

_PROC = Path("/proc")
_KILL_SECONDS = 2


@dataclass(frozen=True, kw_only=True)
class RunningProcess:
    pid: int
    group: int
    command: str


def group_members(group: int) -> list[RunningProcess]:
    """The live processes of a group. Zombies don't count: some containers don't reap them for a long time."""
    return [process for process in _list_running() if process.group == group]


def command_of(pid: int) -> str:
    """The command line of a live process; empty if there is no such process."""
    return next((process.command for process in _list_running() if process.pid == pid), "")


def end_group(group: int, *, stop_signal: signal.Signals, seconds: float, pause: Pause = time.sleep) -> None:
    """Send the stop signal to the group's leader, and kill whatever is left of the group after `seconds`."""
    with suppress(ProcessLookupError):
        os.kill(group, stop_signal)
    for _ in until_deadline(seconds, pause=pause):
        if not any(process.pid == group for process in group_members(group)):
            break
    kill_group(group)


def kill_group(group: int) -> None:
    """Kill a group and wait until it is gone, so that its ports are free again."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    for _ in until_deadline(_KILL_SECONDS):
        if not group_members(group):
            break


def processes_in(directory: Path) -> list[int]:
    """The ids of the processes with this working directory (on Linux; elsewhere none are found)."""
    found = []
    for entry in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            if (entry / "cwd").readlink() == directory:
                found.append(int(entry.name))
    return found


def _list_running() -> Iterator[RunningProcess]:
    if not (_PROC / "self" / "stat").exists():
        yield from _list_running_by_ps()
        return
    for entry in _PROC.glob("[0-9]*"):
        # A process may end between being listed and being read.
        with suppress(OSError):
            # The name in parentheses may contain spaces and parentheses itself.
            state, _parent, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            if state not in "ZX":
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                yield RunningProcess(pid=int(entry.name), group=int(group), command=command)


def _list_running_by_ps() -> Iterator[RunningProcess]:
    table = subprocess.run(
        ["ps", "-A", "-o", "pid=,pgid=,stat=,command="],
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    for line in table.stdout.splitlines():
        pid, group, state, command = (*line.split(maxsplit=3), "")[:4]
        if not state.startswith("Z"):
            yield RunningProcess(pid=int(pid), group=int(group), command=command)

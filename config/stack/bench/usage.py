"""Processor time and memory of a stack's processes, from Linux's /proc. Other systems show none."""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_KB_PER_MB = 1024

# Names of processes as they are shown. Any other is shown by the name of its pid file.
_SHOWN = {"beat": "scheduler", "forkserver": "fork server", "postgres": "PostgreSQL", "redis": "Redis"}


class Usage:
    """Reads what the processes use, by the kind of process: `web`, `worker`, `renderer`, `PostgreSQL` and so on.

    A kind has the processes of its pid files (`web-1.pid`) and all their descendants, which may be in sessions of
    their own, as those of PostgreSQL are.
    """

    def __init__(self, pid_files: Path) -> None:
        self._pid_files = pid_files

    def read_seconds(self) -> dict[str, float]:
        """Seconds of processor time since the start, by kind. It includes children that have ended."""
        seconds: defaultdict[str, float] = defaultdict(float)
        for kind, _, fields in self._list_processes():
            # user, system, and both of the children that were waited for
            seconds[kind] += sum(map(int, fields[11:15])) / _TICKS_PER_SECOND
        return dict(seconds)

    def read_memory(self) -> dict[str, float]:
        """Memory in MB, by kind. Of pages that several processes share, each has its part (PSS)."""
        memory: defaultdict[str, float] = defaultdict(float)
        for kind, pid, _ in self._list_processes():
            # Another user's processes can't be read, nor can one that has just ended.
            with suppress(OSError):
                memory[kind] += _read_pss_kb(pid) / _KB_PER_MB
        return dict(memory)

    def _list_processes(self) -> Iterator[tuple[str, int, list[str]]]:
        """Each of the stack's processes: its kind, its id, and its fields."""
        leaders = dict(self._list_leaders())
        found: dict[int, list[str]] = {}
        for entry in _PROC.glob("[0-9]*"):
            # A process may end between being listed and being read.
            with suppress(OSError):
                found[int(entry.name)] = _read_fields(entry)
        for pid, fields in found.items():
            ancestor = pid
            while ancestor in found and ancestor not in leaders:
                ancestor = int(found[ancestor][1])
            if ancestor in leaders:
                yield leaders[ancestor], pid, fields

    def _list_leaders(self) -> Iterator[tuple[int, str]]:
        for pid_file in self._pid_files.glob("*.pid"):
            pid, _, _ = pid_file.read_text().partition(" ")
            name = pid_file.stem.rstrip("-0123456789")
            yield int(pid), _SHOWN.get(name, name)


def subtract(after: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """The seconds that each kind used in between."""
    return {kind: seconds - before.get(kind, 0) for kind, seconds in after.items()}


def _read_fields(entry: Path) -> list[str]:
    """The fields of `stat` from the state on, which is the third (proc_pid_stat(5))."""
    # The name in parentheses may contain spaces and parentheses itself.
    return (entry / "stat").read_text().rpartition(")")[2].split()


def _read_pss_kb(pid: int) -> int:
    for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "Pss":
            return int(value.split()[0])
    return 0

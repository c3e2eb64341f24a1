"""Processor time and memory by kind of process, from /proc."""

import sys
from pathlib import Path

import pytest

from config.stack.bench.usage import Usage, subtract
from config.stack.processes import Process
from config.stack.waiting import until_deadline

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this /proc")

# In a session of its own, as PostgreSQL's processes are. It ends once it has used half a second.
WORKS = "import os, time; os.setsid(); exec('while time.process_time() < 0.5: pass')"
PARENT_OF_ONE = f'{sys.executable} -c "{WORKS}"; echo ended; sleep 60'
HOLDS_MEMORY = "import time; held = bytearray(b'x' * 50_000_000); print('held', flush=True); time.sleep(60)"


def test_processor_time_includes_children_that_have_ended(place: Path, started):
    process = started(_process("web-1", place, "sh", "-c", PARENT_OF_ONE))
    usage = Usage(place)
    before = usage.read_seconds()
    _wait_for("ended", process)

    used = subtract(usage.read_seconds(), before)

    assert used.keys() == {"web"}
    assert 0.4 < used["web"] < 2


def test_processes_of_a_kind_count_together(place: Path, started):
    for name in ("web-1", "web-2", "beat", "postgres"):
        _wait_for("held", started(_process(name, place, sys.executable, "-c", HOLDS_MEMORY)))

    memory = Usage(place).read_memory()

    assert memory.keys() == {"web", "scheduler", "PostgreSQL"}
    assert 47 < memory["scheduler"] < 90
    assert 94 < memory["web"] < 180


def test_pid_file_of_a_process_that_has_ended_counts_for_nothing(place: Path, started):
    process = started(_process("worker", place, "true"))
    process.wait_until_ended(seconds=10)

    assert Usage(place).read_seconds() == {}


def _process(name: str, place: Path, *command: str) -> Process:
    return Process(
        name=name,
        command=command,
        log=place / f"{name}.log",
        pid_file=place / f"{name}.pid",
    )


def _wait_for(text: str, process: Process) -> None:
    for _ in until_deadline(20):
        if text in process.log.read_text():
            return
    raise AssertionError(process.log_tail())

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from config.stack.data import DataDirectory
from config.stack.errors import StackError
from config.stack.orphans import stop_orphans
from config.stack.processes import PROJECT_DIR, Process, Service
from config.stack.proctable import command_of, group_members
from config.stack.waiting import until_deadline

SLEEPS = "exec sleep 60"
IGNORES_SIGTERM = "trap '' TERM; echo deaf; sleep 60"
HAS_A_CHILD = "sh -c 'sleep 60; true' $0 & sleep 60"


def test_process_is_asked_to_end(place: Path, started):
    process = started(_shell(SLEEPS, place))

    process.stop()

    assert process.exit_status() == -signal.SIGTERM


def test_process_that_does_not_end_is_killed(place: Path, started):
    process = started(_shell(IGNORES_SIGTERM, place))
    _wait_for(lambda: "deaf" in process.log.read_text())

    process.stop(seconds=0.2)

    assert process.exit_status() == -signal.SIGKILL


def test_children_of_a_killed_process_end_with_it(place: Path, started):
    process = started(_shell(HAS_A_CHILD, place, pid_file=place / "pid"))
    group = _noted_pid(process)
    _wait_for(lambda: len(group_members(group)) > 1)
    os.kill(group, signal.SIGKILL)

    process.kill()

    assert group_members(group) == []


def test_process_that_stands_back_does_so_with_its_children_and_session(place: Path, started):
    process = started(_shell(HAS_A_CHILD, place, pid_file=place / "pid", niceness=5))
    group = _noted_pid(process)
    _wait_for(lambda: len(group_members(group)) > 1)

    # The tests may run with a lower priority themselves.
    expected = max(5, os.getpriority(os.PRIO_PROCESS, 0))
    assert {os.getpriority(os.PRIO_PROCESS, member.pid) for member in group_members(group)} == {expected}
    session = Path(f"/proc/{group}/autogroup")
    # Linux may be built without it.
    assert not session.exists() or session.read_text().endswith(f" nice {expected}\n")


def test_process_that_stands_back_keeps_a_lower_priority_of_the_one_that_starts_it():
    stands_back = (
        "import os; from config.stack.processes import begin_life; os.nice(9); "
        "begin_life(15, parent=os.getppid(), niceness=5); print(os.getpriority(os.PRIO_PROCESS, 0))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", stands_back], cwd=PROJECT_DIR, capture_output=True, text=True, check=True
    )

    assert int(ended.stdout) >= 9


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's death")
def test_process_ends_with_the_one_that_started_it(place: Path):
    starts_another = (
        "import pathlib, sys; from config.stack.processes import Process; place = pathlib.Path(sys.argv[1]); "
        "Process(name='child', command=['sleep', '60'], log=place / 'log', "
        "pid_file=place / 'pid').start(); import time; time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", starts_another, str(place)], cwd=PROJECT_DIR) as parent:
        _wait_for(lambda: (place / "pid").exists() and (place / "pid").read_text())
        child = int((place / "pid").read_text().split()[0])

        parent.kill()

    _wait_for(lambda: not command_of(child))


def test_service_that_ends_while_starting_shows_its_log(place: Path, started):
    service = started(
        Service(
            name="broken",
            command=["sh", "-c", "echo no such colour; exit 1"],
            log=place / "broken.log",
            is_ready=lambda: False,
        )
    )

    with pytest.raises(StackError) as refused:
        service.wait_until_ready(seconds=10)

    assert str(refused.value) == (
        f"broken ended during startup.\nThe end of {place}/broken.log:\nno such colour"
    )


def test_service_that_never_answers_is_not_waited_for_longer(place: Path, started):
    service = started(
        Service(
            name="silent",
            command=["sleep", "60"],
            log=place / "silent.log",
            is_ready=lambda: False,
        )
    )

    with pytest.raises(StackError, match=r"^silent took longer than 0.1 s\."):
        service.wait_until_ready(seconds=0.1)


def test_orphan_is_stopped_with_its_children(data: DataDirectory, started):
    orphan = started(_shell(HAS_A_CHILD, data.logs, pid_file=data.pid_file("web")))
    group = _noted_pid(orphan)
    _wait_for(lambda: len(group_members(group)) > 1)

    stop_orphans(data, pause=lambda seconds: None)

    assert group_members(group) == []
    assert not data.pid_file("web").exists()


def test_orphans_children_are_stopped_when_it_is_dead(data: DataDirectory, started):
    orphan = started(_shell(HAS_A_CHILD, data.logs, pid_file=data.pid_file("web")))
    group = _noted_pid(orphan)
    _wait_for(lambda: len(group_members(group)) > 1)
    os.kill(group, signal.SIGKILL)
    orphan.wait_until_ended(seconds=5)

    stop_orphans(data, pause=lambda seconds: None)

    assert group_members(group) == []


def test_stranger_with_an_orphans_id_is_left_alone(data: DataDirectory, started):
    stranger = started(
        Process(
            name="stranger", command=["sleep", "60"], log=data.log("stranger"), pid_file=data.pid_file("web")
        )
    )

    stop_orphans(data, pause=lambda seconds: None)

    assert stranger.exit_status() is None
    assert not data.pid_file("web").exists()


def _shell(script: str, folder: Path, *, pid_file: Path | None = None, niceness: int = 0) -> Process:
    """Start a shell whose command line names the folder, like the stack's own programs."""
    command = ["sh", "-c", script, str(folder)]
    return Process(name="shell", command=command, log=folder / "log", pid_file=pid_file, niceness=niceness)


def _noted_pid(process: Process) -> int:
    return int(process.pid_file.read_text().split()[0])


def _wait_for(condition) -> None:
    for _ in until_deadline(10):
        if condition():
            return
    pytest.fail("Waited for 10 s in vain.")

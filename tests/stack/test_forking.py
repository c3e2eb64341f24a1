"""Programs that are forked from the fork server. Each test runs in a process of its own, which adopts them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.stack.processes import PROJECT_DIR
from config.stack.proctable import command_of
from config.stack.waiting import until_deadline

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")

# A program that shows how it was started, and ends when it is told to.
PROGRAM = """
import os, sys, time
from django.conf import settings
print(sys.argv[1:], os.getsid(0) == os.getpid(), os.environ["DATABASE_STATEMENT_TIMEOUT_S"], flush=True)
options = settings.DATABASES["default"]["OPTIONS"]["options"]
print([option for option in options.split() if "statement" in option], "config.rsgi" in sys.modules, flush=True)
if "priority" in sys.argv:
    print(os.getpriority(os.PRIO_PROCESS, 0), flush=True)
if "memory" in sys.argv:
    sizes = {line.split()[0]: int(line.split()[1]) for line in open("/proc/self/smaps_rollup") if line.endswith("kB\\n")}
    print(sizes["Private_Dirty:"] / sizes["Rss:"], flush=True)
if "sleep" in sys.argv:
    time.sleep(60)
sys.exit(3)
"""
# Defines `server`, which is ready, and `make_service()`.
BEGINNING = """
import os, signal, sys
from pathlib import Path
from config.stack.forking import Adopted, ForkServer, adopt_orphans, reap_adopted
from config.stack.processes import Service
place = Path(sys.argv[1])
environment = {**os.environ, "PYTHONPATH": sys.argv[1]}
environment.pop("DATABASE_STATEMENT_TIMEOUT_S", None)
assert adopt_orphans()
server = ForkServer(name="forkserver", command=[sys.executable, "-m", "config.stack.forkserver"],
    log=place / "forkserver.log", environment=environment)
server.start()
server.wait_until_ready(seconds=60)
def make_service(*arguments, **variables):
    return Service(name="shown", command=[sys.executable, "-m", "shown", *arguments], log=place / "log", forker=server,
        environment={**environment, "DATABASE_STATEMENT_TIMEOUT_S": "7", **variables}, is_ready=lambda: True)
"""


def test_forked_program_runs_as_if_started_by_itself(place: Path):
    shown = run(
        place,
        """
        service = make_service("one", "two")
        service.start()
        print(service.wait_until_ended(seconds=30), type(service._running).__name__)
        """,
    )

    assert shown == "3 Adopted\n"
    assert (place / "log").read_text() == "['one', 'two'] True 7\n['statement_timeout=7s'] True\n"


def test_forked_program_has_its_priority(place: Path):
    run(
        place,
        """
        service = make_service("priority")
        service.niceness = 5
        service.start()
        service.wait_until_ended(seconds=30)
        """,
    )

    assert (place / "log").read_text().splitlines()[-1] == "5"


def test_forked_program_shares_most_of_its_memory(place: Path):
    run(
        place,
        """
        service = make_service("memory")
        service.start()
        service.wait_until_ended(seconds=30)
        """,
    )

    # A program that is started by itself has nearly all of its memory for itself.
    assert float((place / "log").read_text().splitlines()[-1]) < 1 / 5


def test_forked_program_outlives_its_server_and_is_then_started_by_itself(place: Path):
    shown = run(
        place,
        """
        service = make_service("sleep")
        service.start()
        os.kill(server.pid, signal.SIGKILL)
        server.wait_until_ended(seconds=5)
        print(service.exit_status())
        service.stop()
        print(service.exit_status())
        service.start()
        print(type(service._running).__name__)
        service.kill()
        server.start()
        server.wait_until_ready(seconds=60)
        service.start()
        print(type(service._running).__name__)
        service.kill()
        """,
    )

    assert shown == "None\n-15\nPopen\nAdopted\n"


def test_server_that_hangs_is_ended_and_the_program_started_by_itself(place: Path):
    shown = run(
        place,
        """
        from config.stack import forking
        forking._FORK_SECONDS = 0.5
        os.kill(server.pid, signal.SIGSTOP)
        service = make_service("sleep")
        service.start()
        print(type(service._running).__name__, server.exit_status())
        service.kill()
        """,
    )

    assert shown == "Popen -9\n"


def test_program_with_another_environment_is_not_forked(place: Path):
    shown = run(
        place,
        """
        service = make_service(SECRET_KEY="another")
        service.start()
        print(type(service._running).__name__)
        service.kill()
        """,
    )

    assert shown == "Popen\n"


def test_forked_program_ends_with_the_process_that_started_it(place: Path):
    pid = run(
        place,
        """
        service = make_service("sleep")
        service.start()
        print(service.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
    )

    assert wait_until_gone(int(pid))


def test_adopted_processes_that_end_are_reaped_and_others_are_left_to_their_owners(place: Path):
    shown = run(
        place,
        """
        children = []
        for _ in range(2):
            if not (pid := os.fork()):
                os._exit(5)
            children.append(pid)
        for pid in children:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        stray, own = children
        reap_adopted({own, server.pid})
        print(Path(f"/proc/{stray}").exists(), Adopted(own).poll())
        """,
    )

    assert shown == "False 5\n"


def run(place: Path, steps: str) -> str:
    """Run Python code after `BEGINNING`, and return what it prints."""
    (place / "shown.py").write_text(PROGRAM)
    lines = steps.splitlines()
    margin = len(lines[1]) - len(lines[1].lstrip())
    code = "\n".join([BEGINNING, *(line[margin:] for line in lines), "server.kill()"])
    done = subprocess.run(
        [sys.executable, "-c", code, str(place)],
        cwd=PROJECT_DIR,
        env=os.environ,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=200,
    )
    return done.stdout


def wait_until_gone(pid: int) -> bool:
    return any(not command_of(pid) for _ in until_deadline(10))

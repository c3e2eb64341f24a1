import subprocess
import sys

import pytest

# Frees one object of 64 bytes in each page, forks, and lets the forked process make as many. Prints how much memory it
# then has of its own, in kB.
PROGRAM = """
import os, sys
from commerce.forking import prepare_to_fork
objects = [bytes(31) for _ in range(400_000)]
del objects[::64]
if sys.argv[1:] == ["prepared"]:
    prepare_to_fork()
if os.fork() == 0:
    mine = [bytes(31) for _ in range(6_000)]
    sizes = {line.split()[0]: int(line.split()[1]) for line in open("/proc/self/smaps_rollup") if line.endswith("kB\\n")}
    print(sizes["Private_Dirty:"], flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory is shared")
def test_new_objects_of_a_forked_process_do_not_have_shared_pages_copied():
    def measure_kb(*arguments):
        return int(
            subprocess.run(
                [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, check=True
            ).stdout
        )

    # 6,000 pages of 4 kB.
    assert measure_kb() > 20_000
    assert measure_kb("prepared") < 5_000


def test_standard_error_is_left_alone(capfd):
    subprocess.run(
        [sys.executable, "-c", "from commerce.forking import prepare_to_fork; prepare_to_fork()"], check=True
    )

    assert capfd.readouterr().err == ""


def test_process_without_standard_streams_is_left_alone():
    program = (
        "import os; os.closerange(0, 3); from commerce.forking import prepare_to_fork; prepare_to_fork()"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)

    assert done.returncode == 0


def test_an_allocator_without_statistics_is_left_alone():
    program = "from commerce import forking; forking.prepare_to_fork(); print(forking._fillers)"

    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONMALLOC": "malloc"}, capture_output=True, check=True
    )

    assert done.stdout == b"[]\n"

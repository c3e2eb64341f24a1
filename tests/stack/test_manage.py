import os
import subprocess
import sys

from config.stack.data import DataDirectory
from config.stack.processes import PROJECT_DIR


def test_command_without_a_running_stack_says_so(data: DataDirectory):
    done = subprocess.run(
        [sys.executable, "-m", "config.stack", "manage", "reconcile", "my-shop"],
        cwd=PROJECT_DIR,
        env=os.environ | {"DATA_DIR": str(data.root)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 1
    assert done.stderr == f"Nothing is running on {data.root}. Start it with: make run\n"

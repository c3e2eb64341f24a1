"""`make manage ARGS="reconcile"`: runs a manage.py command in the environment of a running stack."""

import os
import subprocess
import sys

from config.stack.errors import StackError
from config.stack.processes import PROJECT_DIR
from config.stack.running import RunningStack


def main() -> int:
    """Return the command's exit status; 1 if no stack is running."""
    try:
        environment = RunningStack.find(os.environ).environment()
    except StackError as error:
        print(error, file=sys.stderr)
        return 1
    command = [sys.executable, str(PROJECT_DIR / "manage.py"), *sys.argv[2:]]
    return subprocess.run(command, env=environment, check=False).returncode

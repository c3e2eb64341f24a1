"""Stops processes that a killed run left behind."""

import signal
import sys

from config.stack.data import DataDirectory
from config.stack.proctable import end_group, group_members
from config.stack.waiting import Pause

_STOP_SECONDS = 5


def stop_orphans(data: DataDirectory, *, pause: Pause) -> None:
    """End the process groups named in the pid files of an earlier run, if they are still ours."""
    for pid_file in sorted(data.pids.glob("*.pid")):
        # Empty if the run was killed while it wrote the file.
        pid, _, signal_name = pid_file.read_text().strip().partition(" ")
        # The process id may have been reused since, so check that a command line names our own files.
        commands = [process.command for process in group_members(int(pid))] if pid else []
        if any(mark in command for command in commands for mark in (sys.prefix, str(data.root))):
            print(f"Stopping {pid_file.stem}, left over from an earlier run.", flush=True)
            end_group(int(pid), stop_signal=signal.Signals[signal_name], seconds=_STOP_SECONDS, pause=pause)
        pid_file.unlink(missing_ok=True)

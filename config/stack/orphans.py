"""Stops processes that a killed run left behind."""

import signal
import sys
from pathlib import Path

from config.stack.data import DataDirectory
from config.stack.proctable import end_group, group_members
from config.stack.waiting import Pause

_STOP_SECONDS = 5


def stop_orphans(data: DataDirectory, *, pause: Pause) -> None:
    """End the process groups named in the pid files of an earlier run, if they are still ours."""
    for pid_file in sorted(data.pids.glob("*.pid")):
        _stop_orphan(pid_file, data=data, pause=pause)
        pid_file.unlink(missing_ok=True)


def _stop_orphan(pid_file: Path, *, data: DataDirectory, pause: Pause) -> None:
    pid, _, signal_name = pid_file.read_text().strip().partition(" ")
    # The process id may have been reused since, so check that a command line names our own files.
    ours = (sys.prefix, str(data.root))
    if pid and any(mark in process.command for process in group_members(int(pid)) for mark in ours):
        print(f"Stopping {pid_file.stem}, left over from an earlier run.", flush=True)
        end_group(int(pid), stop_signal=signal.Signals[signal_name], seconds=_STOP_SECONDS, pause=pause)

"""Programs of the stack: each in a process group of its own, stopped with everything that it started."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from config.stack.errors import StackError
from config.stack.privileges import ServiceUser
from config.stack.proctable import kill_group
from config.stack.waiting import Pause, until_deadline

PROJECT_DIR = Path(__file__).resolve().parents[2]
STOP_SECONDS = 5
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(kw_only=True)
class Process:
    """A program, where its output goes, and the signal that makes it end by itself."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] | None = None
    user: ServiceUser | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    # Names the process to a later run, should this one be killed.
    pid_file: Path | None = None
    _popen: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._popen = subprocess.Popen(
                self.command,
                cwd=PROJECT_DIR,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # Two system calls that take no lock, so that other threads don't matter.
                preexec_fn=partial(end_with_parent, self.stop_signal, parent=os.getpid()),  # noqa: PLW1509
                **(self.user.popen_arguments() if self.user else {}),
            )
        if self.pid_file:
            self.pid_file.write_text(f"{self._popen.pid} {self.stop_signal.name}\n")

    def exit_status(self) -> int | None:
        """None while it runs; negative when a signal ended it."""
        return self._started.poll()

    def wait_until_ended(self, *, seconds: float, pause: Pause = time.sleep) -> int:
        """The exit status; raises `StackError` when it hasn't ended within the seconds given."""
        for _ in until_deadline(seconds, pause=pause):
            if (status := self.exit_status()) is not None:
                return status
        raise self.too_slow(seconds)

    def stop(self, *, seconds: float = STOP_SECONDS, pause: Pause = time.sleep) -> None:
        """Ask it to end; what is left of its group after the seconds given is killed."""
        if self._popen is None:
            return
        self._popen.send_signal(self.stop_signal)
        with suppress(StackError):
            self.wait_until_ended(seconds=seconds, pause=pause)
        self.kill()

    def kill(self) -> None:
        """Kill the whole group: children of a dead program may still hold its port."""
        if self._popen is None:
            return
        kill_group(self._popen.pid)
        self._popen.wait()
        if self.pid_file:
            self.pid_file.unlink(missing_ok=True)

    def too_slow(self, seconds: float) -> StackError:
        return StackError(f"Waited {seconds:g} s for {self.name}, in vain.\n{self.log_tail()}")

    def log_tail(self, *, lines: int = 20) -> str:
        """The end of the log, headed by its path."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join([f"The end of {self.log}:", *text.splitlines()[-lines:]])

    @property
    def _started(self) -> subprocess.Popen[bytes]:
        if self._popen is None:
            raise RuntimeError(f"{self.name} was not started.")
        return self._popen


@dataclass(kw_only=True)
class Service(Process):
    """A program that keeps running, and how to see that it answers."""

    is_ready: Callable[[], bool]
    # Done before each start, also before a restart after a crash.
    prepare: Callable[[], None] | None = None

    def start(self) -> None:
        if self.prepare:
            self.prepare()
        super().start()

    def is_up(self) -> bool:
        """Whether it answers; raises `StackError` with the end of the log when it has ended."""
        if self.exit_status() is not None:
            raise StackError(f"{self.name} ended while it was starting.\n{self.log_tail()}")
        return self.is_ready()

    def wait_until_ready(self, *, seconds: float) -> None:
        """Raises `StackError` with the end of the log when it has ended or doesn't answer in time."""
        for _ in until_deadline(seconds):
            if self.is_up():
                return
        raise self.too_slow(seconds)


def end_with_parent(number: signal.Signals, *, parent: int) -> None:
    """Have the kernel send this process the signal when its parent dies, however that dies (on Linux only)."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:
            os._exit(1)

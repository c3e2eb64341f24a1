"""The stack's programs. Each runs in its own process group and is stopped together with all its children."""

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
from typing import BinaryIO, Protocol

from config.stack.errors import StackError
from config.stack.privileges import ServiceUser
from config.stack.proctable import kill_group
from config.stack.waiting import Pause, until_deadline

PROJECT_DIR = Path(__file__).resolve().parents[2]
STOP_SECONDS = 5
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class Running(Protocol):
    """What `Process` needs of a started program. `subprocess.Popen` has it all."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self) -> int | None: ...

    def send_signal(self, number: signal.Signals, /) -> None: ...


class Forker(Protocol):
    """Starts programs in another way than by running an interpreter, if it can at the moment."""

    def fork(
        self, process: "Process", module: str, arguments: Sequence[str], log: BinaryIO
    ) -> Running | None: ...


@dataclass(kw_only=True)
class Process:
    """A program, its log file, and the signal that makes it shut down cleanly."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] | None = None
    user: ServiceUser | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    # Lets the next run find the process if this run is killed.
    pid_file: Path | None = None
    # For a command of the form `python -m module ...`.
    forker: Forker | None = None
    # How far it stands back while all processors are busy, from 0 to 19 (nice(2)).
    niceness: int = 0
    _running: Running | None = field(default=None, init=False)

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._running = self._launch(log)
        if self.pid_file:
            self.pid_file.write_text(f"{self._running.pid} {self.stop_signal.name}\n")

    def _launch(self, log: BinaryIO) -> Running:
        if self.forker:
            _interpreter, _option, module, *arguments = self.command
            if forked := self.forker.fork(self, module, arguments, log):
                return forked
        return self._execute(log, stdin=subprocess.DEVNULL)

    def _execute(self, log: BinaryIO, *, stdin: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command,
            cwd=PROJECT_DIR,
            env=self.environment,
            stdin=stdin,
            stdout=log,
            stderr=subprocess.STDOUT,
            # Ctrl-C in the terminal would otherwise reach it too, and stop everything at once and in any order.
            start_new_session=True,
            # Safe despite threads: it makes a few system calls and takes no lock.
            preexec_fn=partial(  # noqa: PLW1509
                begin_life, self.stop_signal, parent=os.getpid(), niceness=self.niceness
            ),
            **(self.user.popen_arguments() if self.user else {}),
        )

    @property
    def pid(self) -> int | None:
        """None before it was started."""
        return self._running.pid if self._running else None

    def exit_status(self) -> int | None:
        """Return None while it runs; a negative number if a signal ended it."""
        if self._running is None:
            raise RuntimeError(f"{self.name} was not started.")
        return self._running.poll()

    def wait_until_ended(self, *, seconds: float, pause: Pause = time.sleep) -> int:
        """Return the exit status. Raises `StackError` if it hasn't ended in time."""
        for _ in until_deadline(seconds, pause=pause):
            if (status := self.exit_status()) is not None:
                return status
        raise self.make_timeout_error(seconds)

    def stop(self, *, seconds: float = STOP_SECONDS, pause: Pause = time.sleep) -> None:
        """Send the stop signal, and kill whatever is left of the group after `seconds`."""
        if self._running is None:
            return
        self._running.send_signal(self.stop_signal)
        with suppress(StackError):
            self.wait_until_ended(seconds=seconds, pause=pause)
        self.kill()

    def kill(self) -> None:
        """Kill the whole group, since children of a dead program may still hold its port."""
        if self._running is None:
            return
        kill_group(self._running.pid)
        self._running.wait()
        if self.pid_file:
            self.pid_file.unlink(missing_ok=True)

    def make_timeout_error(self, seconds: float) -> StackError:
        return StackError(f"{self.name} took longer than {seconds:g} s.\n{self.log_tail()}")

    def log_tail(self, *, lines: int = 20) -> str:
        """Return the last lines of the log, headed by its path."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join([f"The end of {self.log}:", *text.splitlines()[-lines:]])


@dataclass(kw_only=True)
class Service(Process):
    """A program that keeps running, and a check that it answers."""

    is_ready: Callable[[], bool]
    # Called before every start, including restarts after a crash.
    prepare: Callable[[], None] | None = None

    def start(self) -> None:
        if self.prepare:
            self.prepare()
        super().start()

    def is_up(self) -> bool:
        """Whether it answers. Raises `StackError` with the end of the log if it has ended."""
        if self.exit_status() is not None:
            raise StackError(f"{self.name} ended during startup.\n{self.log_tail()}")
        return self.is_ready()

    def wait_until_ready(self, *, seconds: float) -> None:
        """Wait until it answers. Raises `StackError` with the end of the log if it ends or takes too long."""
        for _ in until_deadline(seconds):
            if self.is_up():
                return
        raise self.make_timeout_error(seconds)


def begin_life(number: signal.Signals, *, parent: int, niceness: int) -> None:
    """Set this process's priority, and have it end with its parent."""
    if niceness:
        _lower_priority(niceness)
    end_with_parent(number, parent=parent)


def end_with_parent(number: signal.Signals, *, parent: int) -> None:
    """Have the kernel signal this process when its parent dies, even by SIGKILL (Linux only)."""
    # The parent may have died before prctl took effect.
    if call_prctl(_PR_SET_PDEATHSIG, int(number)) and os.getppid() != parent:
        os._exit(1)


def _lower_priority(niceness: int) -> None:
    # The stack may have been started with `nice`. Few may raise a priority again.
    niceness = max(niceness, os.getpriority(os.PRIO_PROCESS, 0))
    os.setpriority(os.PRIO_PROCESS, 0, niceness)
    # Most Linux systems first divide the processors among sessions, by a priority that each has of its own (sched(7)).
    with suppress(OSError):
        session = os.open("/proc/self/autogroup", os.O_WRONLY)
        try:
            os.write(session, str(niceness).encode())
        finally:
            os.close(session)


def call_prctl(option: int, value: "int | ctypes.Array[ctypes.c_char]") -> bool:
    """Change how the kernel treats this process (prctl(2)). Returns whether it does; on Linux only."""
    return _libc is not None and _libc.prctl(option, value, 0, 0, 0) == 0

"""Long-running programs: started in a group of their own, waited for, stopped with everything they started."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from config.stack.privileges import ServiceUser

PROJECT_DIR = Path(__file__).resolve().parents[2]
POLL_SECONDS = 0.02
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class StackError(Exception):
    """Why the stack can't go on, as one message for the terminal."""


@dataclass(kw_only=True)
class Service:
    """A program, how to see that it answers, and the signal that makes it end by itself."""

    name: str
    command: Sequence[str]
    log: Path
    is_ready: Callable[[], bool]
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    user: ServiceUser | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    prepare: Callable[[], None] | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        if self.prepare:
            self.prepare()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=PROJECT_DIR,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # Nothing but one system call happens between fork and exec.
                preexec_fn=_end_with_parent(self.stop_signal),  # noqa: PLW1509
                **(self.user.popen_arguments() if self.user else {}),
            )

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def wait_until_ready(self, *, timeout: float) -> None:
        """Raises StackError with the tail of the log when it ends, or doesn't answer within the seconds given."""
        for _ in until_deadline(timeout):
            if not self.is_running:
                raise StackError(f"{self.name} ended while starting.\n{tail(self.log)}")
            if self.is_ready():
                return
        raise StackError(f"{self.name} did not answer within {timeout:.0f} s.\n{tail(self.log)}")

    def stop(self, *, timeout: float = 5) -> None:
        """Asks the program to end; what is left of its group after the seconds given is killed."""
        if self.is_running:
            self.signal(self.stop_signal)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout)
        self.kill()

    def kill(self) -> None:
        """Kills the whole group: children of a dead program may still hold its port."""
        if self.process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    @property
    def _process(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            raise RuntimeError(f"{self.name} was not started.")
        return self.process


def _end_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """Linux sends the signal to the child when the supervisor dies, however it dies."""
    if _libc is None:
        return None
    prctl, parent = _libc.prctl, os.getpid()

    def ask_kernel() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:
            os._exit(1)

    return ask_kernel


def until_deadline(timeout: float) -> Iterator[None]:
    """Yields at once and then every few milliseconds until the seconds given are over."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        yield
        time.sleep(POLL_SECONDS)


def tail(log: Path, *, lines: int = 20) -> str:
    """The end of a log, headed by its path."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return "\n".join([f"--- {log}", *text.splitlines()[-lines:]])


def free_port(preferred: int | None = None) -> int:
    """The preferred TCP port of 127.0.0.1 if it is free, else any free one."""
    if preferred and port_is_free(preferred):
        return preferred
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        # Connections of a server that just ended don't keep the port busy for the next one.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def command_line(pid: int) -> str:
    """The arguments of a running process; empty for a zombie and for none."""
    proc = Path(f"/proc/{pid}/cmdline")
    if Path("/proc/self").exists():
        with suppress(OSError):
            return proc.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        return ""
    done = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], check=False, capture_output=True, text=True
    )
    return done.stdout.strip()

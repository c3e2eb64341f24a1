"""Has programs forked from one process that has loaded their code, rather than each loading it again.

The fork server (config/stack/forkserver.py) forks them, but they are children of this process, which watches and stops
them like all others. Linux only; elsewhere, and while there is no fork server, programs are started as usual.
"""

import json
import os
import signal
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from subprocess import Popen
from typing import BinaryIO, Self

from config.stack.processes import Process, Running, Service, call_prctl

# The variables in which programs may differ from the fork server.
OWN_NAMES = ("DATABASE_STATEMENT_TIMEOUT_S", "DATABASE_TRANSACTION_TIMEOUT_S")
READY = b"ready"
GO = b"go"

_PR_SET_CHILD_SUBREAPER = 36
_FORK_SECONDS = 10


def adopt_orphans() -> bool:
    """Make this process the parent of its descendants whose parents end. Returns whether the system can do that."""
    return call_prctl(_PR_SET_CHILD_SUBREAPER, 1)


def reap_adopted(own: Collection[int | None]) -> None:
    """Let adopted processes that have ended go. Those in `own` are waited for by whoever started them."""
    with suppress(ChildProcessError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid in own:
                return
            os.waitpid(ended.si_pid, 0)


class Adopted:
    """A child of this process that another one has forked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None

    def poll(self) -> int | None:
        return self._wait(os.WNOHANG)

    def wait(self) -> int | None:
        return self._wait(0)

    def send_signal(self, number: signal.Signals) -> None:
        # A process that has ended, and was waited for, may have given its id to another one.
        if self.poll() is None:
            os.kill(self.pid, number)

    def _wait(self, options: int) -> int | None:
        if self._status is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkRequest:
    """What the fork server is asked for: a process of this name that runs a module, for the process `parent`."""

    name: str
    module: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    stop_signal: signal.Signals
    parent: int
    niceness: int

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, message: bytes) -> Self:
        fields = json.loads(message)
        return cls(**fields | {"stop_signal": signal.Signals(fields["stop_signal"])})


@dataclass(kw_only=True)
class ForkServer(Service):
    """The fork server. It is ready when it has loaded everything."""

    is_ready: Callable[[], bool] = field(init=False)
    _control: socket.socket | None = field(default=None, init=False)
    _is_loaded: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.is_ready = self._check_loaded

    def _launch(self, log: BinaryIO) -> "Popen[bytes]":
        if self._control:
            self._control.close()
        self._is_loaded = False
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            return self._execute(log, stdin=theirs.fileno())

    def _check_loaded(self) -> bool:
        if not self._is_loaded and self._control:
            with suppress(BlockingIOError, ConnectionError):
                self._is_loaded = self._control.recv(len(READY), socket.MSG_DONTWAIT) == READY
        return self._is_loaded

    def fork(self, process: Process, module: str, arguments: Sequence[str], log: BinaryIO) -> Running | None:
        """Fork a process that runs a module. Returns None if that isn't possible now."""
        if not self._check_loaded() or not self._control or not self.fits(process):
            return None
        request = ForkRequest(
            name=process.name,
            module=module,
            arguments=[*arguments],
            environment={**(process.environment or {})},
            stop_signal=process.stop_signal,
            parent=os.getpid(),
            niceness=process.niceness,
        )
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            ours.settimeout(_FORK_SECONDS)
            try:
                socket.send_fds(self._control, [request.encode()], [log.fileno(), theirs.fileno()])
                theirs.close()
                pid = int(ours.recv(64) or 0)
                # Without this answer, the process ends: it is never run twice.
                ours.send(GO)
            except TimeoutError:
                # It hangs. The supervisor replaces it, so that only one program has waited.
                self.kill()
                return None
            except OSError:
                return None
        return Adopted(pid) if pid else None

    def fits(self, process: Process) -> bool:
        """Whether it has this server's user and environment, except for `OWN_NAMES`."""
        return process.user == self.user and _shared(process.environment) == _shared(self.environment)


def _shared(environment: Mapping[str, str] | None) -> dict[str, str]:
    return {name: value for name, value in (environment or {}).items() if name not in OWN_NAMES}

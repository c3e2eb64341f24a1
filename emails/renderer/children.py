"""Runs native code in a process of its own, which may die without taking the worker with it.

No signal interrupts the MJML compiler and the CSS inliner, and they abort their process when memory or stack runs out.
A short document is enough for that. By the rules of HTML, formatting tags that were never closed are opened again in
every following block, with all their attributes: 2,000 of them before 2,000 paragraphs make four million elements.
"""

import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress

from emails.renderer.limits import ProcessorTimeIsUp, charge_processor_time
from emails.renderer.problems import RendererBusy

# Some kernels count in ticks and end a timer a third too early. Time beyond the limit is charged afterwards.
_TIMER_TOLERANCE = 1.5

_FAILED = b"-"
_DONE = b"+"


def run_in_child(work: Callable[[], str]) -> str:
    """Run `work` in a forked process and return its text.

    Raises `ValueError` with the text of the child's error, `MemoryError` if the child died, and what ends a rendering.
    """
    left_s, _ = signal.getitimer(signal.ITIMER_PROF)
    reader, writer = os.pipe()
    try:
        child = os.fork()
    except OSError as error:
        # The machine has no memory or no number for another process.
        os.close(reader)
        os.close(writer)
        raise RendererBusy from error
    if child == 0:
        _work_and_exit(work, writer, left_s)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as pipe:
            answer = pipe.read()
    except BaseException:
        # The worker's own time is up, for example: nobody needs the result.
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        # Also after an error, as a child that nobody waits for stays in the table of processes.
        _, status, usage = os.wait4(child, 0)
    _check_end(status, usage)
    kind, text = answer[:1], answer[1:].decode()
    if kind == _FAILED:
        raise ValueError(text)
    if kind != _DONE:
        raise MemoryError
    return text


def _work_and_exit(work: Callable[[], str], writer: int, left_s: float) -> None:
    """The child's whole life. It never returns into the worker's code, which would answer the request a second time."""
    code = 1
    with suppress(BaseException):
        # A child has no timers of its own at first. Without a handler, this one kills it.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, left_s * _TIMER_TOLERANCE)
        # A crash that a template causes at will must not fill the disk.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            answer = _DONE + work().encode()
        except MemoryError:
            answer = b""
        # A panic of native code is no `Exception`.
        except BaseException as error:  # noqa: BLE001
            answer = _FAILED + str(error).encode(errors="replace")
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(answer)
        code = 0
    os._exit(code)


def _check_end(status: int, usage: resource.struct_rusage) -> None:
    """Charge the message for the child's time.

    Raises `ProcessorTimeIsUp`, `MemoryError` if the child died, and `RendererBusy` if it was killed from outside.
    """
    killed_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    if killed_by == signal.SIGPROF:
        raise ProcessorTimeIsUp
    # By a kernel that is short of memory, for example, which may have chosen any process. What goes beyond its own limit
    # of memory or stack ends by SIGABRT or SIGSEGV.
    if killed_by == signal.SIGKILL:
        raise RendererBusy
    charge_processor_time(usage.ru_utime + usage.ru_stime)
    if status:
        raise MemoryError

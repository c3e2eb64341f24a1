"""Limits on what one request may cost. Merchants write templates, so each of these limits is reached."""

import math
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from emails.renderer.problems import RendererBusy, TemplateLimitExceeded

MAX_BODY_BYTES = 256 * 1024
# Processor time doesn't depend on how busy the machine is. The longest orders take a quarter of it.
MAX_PROCESSOR_SECONDS = 1.0
# Code that no signal interrupts is killed this many seconds later, with its worker. The client may try again.
KILL_AFTER_SECONDS = 3
# Wall-clock time, for a machine that is too busy. The template may be fine: the client may try again.
MAX_SECONDS = 8.0
MAX_WORKER_MEMORY_BYTES = 512 * 1024 * 1024

MAX_LOOP_ITERATIONS = 10_000
MAX_BLOCK_NESTING = 30
MAX_LOCAL_NAMESPACE_BYTES = 1024 * 1024
MAX_OUTPUT_BYTES = 1024 * 1024
MAX_HTML_CHARACTERS = 2 * 1024 * 1024

# The CSS inliner recurses natively: near 11,000 nested elements it overflows an 8 MiB stack and takes the
# worker with it. Limiting the tags limits the nesting, however a parser reads them.
MAX_TAGS = 5_000

# No signal interrupts the inliner either. Its time grows with the tags and the square of the CSS. These limits keep it
# to about the processor time above: 16 KiB of CSS for 180 tags, 4 KiB for 1,500.
MAX_INLINE_CSS_CHARACTERS = 16 * 1024
MAX_INLINE_CSS_CHARACTERS_TIMES_TAGS = 6_000_000
MAX_SQUARED_INLINE_CSS_CHARACTERS_TIMES_TAGS = 50_000_000_000


class _ProcessorTimeIsUp(BaseException):
    """Not an `Exception`, so that no library's catch-all handler swallows it."""


class _TimeIsUp(BaseException):
    """As above."""


@contextmanager
def resource_limits() -> Iterator[None]:
    """Limit the block's time, and raise `TemplateLimitExceeded` if it runs out of processor time, memory or stack.

    Raises `RendererBusy` if the machine gave the block too little processor time. Works in the main thread only, where
    gunicorn's sync worker handles requests.
    """
    try:
        with (
            _kill_after_limit(),
            _timer(signal.ITIMER_REAL, signal.SIGALRM, MAX_SECONDS, _TimeIsUp),
            _timer(signal.ITIMER_PROF, signal.SIGPROF, MAX_PROCESSOR_SECONDS, _ProcessorTimeIsUp),
        ):
            yield
    except _ProcessorTimeIsUp:
        detail = f"Rendering took more than {MAX_PROCESSOR_SECONDS:g} s of processor time."
        raise TemplateLimitExceeded(detail) from None
    except _TimeIsUp:
        raise RendererBusy from None
    except MemoryError:
        raise TemplateLimitExceeded("Rendering needed too much memory.") from None
    except RecursionError:
        raise TemplateLimitExceeded("The template is nested too deeply.") from None


@contextmanager
def _timer(
    kind: int, signal_number: signal.Signals, seconds: float, error: type[BaseException]
) -> Iterator[None]:
    """A signal interrupts Python code and regular expressions, but no other native code."""

    def raise_error(_signal_number: int, _frame: object) -> None:
        raise error

    previous = signal.signal(signal_number, raise_error)
    signal.setitimer(kind, seconds)
    try:
        yield
    finally:
        signal.setitimer(kind, 0)
        signal.signal(signal_number, previous)


@contextmanager
def _kill_after_limit() -> Iterator[None]:
    """Have the kernel kill this process if it keeps using the processor. Gunicorn starts another."""
    if sys.platform != "linux":
        yield
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    until = math.ceil(time.process_time() + MAX_PROCESSOR_SECONDS) + KILL_AFTER_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (until, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))

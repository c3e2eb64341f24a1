"""What one request may cost. Templates are written by merchants, so every one of these bounds is reachable."""

import math
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from emails.renderer.problems import RendererBusy, TemplateLimitExceeded

MAX_BODY_BYTES = 256 * 1024
# Of processor time, so that the limit doesn't depend on how busy the machine is. The longest orders take a quarter.
MAX_PROCESSOR_SECONDS = 1.0
# What no signal interrupts ends the worker this much later, in whole seconds. Its client may try again.
KILL_AFTER_SECONDS = 3
# On a machine that is too busy. This says nothing about the template: the client may try again.
MAX_SECONDS = 8.0
MAX_WORKER_MEMORY_BYTES = 512 * 1024 * 1024

MAX_LOOP_ITERATIONS = 10_000
MAX_BLOCK_NESTING = 30
MAX_LOCAL_NAMESPACE_BYTES = 1024 * 1024
MAX_OUTPUT_BYTES = 1024 * 1024
MAX_HTML_CHARACTERS = 2 * 1024 * 1024

# The CSS inliner recurses natively: near 11,000 nested elements it overflows an 8 MiB stack and takes the
# worker with it. Counting tags bounds the nesting whatever a parser makes of them.
MAX_TAGS = 5_000

# Nor does a signal interrupt the inliner. Its time grows with the tags and with the square of the CSS. These keep it
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
    """Bound the block in time, and turn exhaustion of processor time, memory or stack into `TemplateLimitExceeded`.

    Raises `RendererBusy` if the block got too little processor time. Works in the main thread only, which is where
    gunicorn's sync worker handles requests.
    """
    try:
        with (
            _killed_after_limit(),
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
    """A signal reaches Python loops and regular expressions, but no other native code."""

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
def _killed_after_limit() -> Iterator[None]:
    """Have the kernel end this process if it goes on using the processor. Gunicorn starts another one."""
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

"""Limits on what one request may cost. Merchants write templates, so each limit will be reached some day."""

import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from emails.renderer.problems import RendererBusy, TemplateLimitExceeded, TooSlowForLane

MAX_BODY_BYTES = 256 * 1024
# Processor time doesn't depend on how busy the machine is. The longest orders take a quarter of it.
MAX_PROCESSOR_SECONDS = 1.0
# The limit of the quick lane. For usual orders the platform's templates take 0.02 s, and 0.05 s in a new process.
QUICK_PROCESSOR_SECONDS = 0.15
# Code that no signal interrupts is killed this many seconds later, with its worker. The client may try again.
KILL_AFTER_SECONDS = 3.0
# Wall-clock time, for a machine that is too busy. The template may be fine: the client may try again.
MAX_SECONDS = 8.0
MAX_WORKER_MEMORY_BYTES = 512 * 1024 * 1024

MAX_LOOP_ITERATIONS = 10_000
MAX_BLOCK_NESTING = 30
MAX_LOCAL_NAMESPACE_BYTES = 1024 * 1024
MAX_OUTPUT_BYTES = 1024 * 1024
MAX_HTML_CHARACTERS = 2 * 1024 * 1024
TOO_MUCH_HTML = f"The message has more than {MAX_HTML_CHARACTERS} characters of HTML."

# Of a rendered subject or preheader, as of a line of mail (RFC 5322, 2.1.1). A short template can write a megabyte.
MAX_LINE_CHARACTERS = 998
# Warnings are stored with every version of a template, and a loop can repeat one for each tag.
MAX_WARNINGS = 100
MAX_WARNING_TAG_CHARACTERS = 100
MAX_WARNING_CHARACTERS = 300

# Bounds how deep elements nest, however a parser reads them: native parsers recurse.
MAX_TAGS = 5_000

# The time to inline CSS grows with the tags and the square of the CSS. These limits keep it to about the processor time
# above: 16 KiB of CSS for 180 tags, 4 KiB for 1,500.
MAX_INLINE_CSS_CHARACTERS = 16 * 1024
MAX_INLINE_CSS_CHARACTERS_TIMES_TAGS = 6_000_000
MAX_SQUARED_INLINE_CSS_CHARACTERS_TIMES_TAGS = 50_000_000_000


# A timer of 0 s would be none.
_SHORTEST_TIMER_S = 0.005


class ProcessorTimeIsUp(BaseException):
    """Not an `Exception`, so that no library's catch-all handler swallows it."""


class _TimeIsUp(BaseException):
    """As above."""


def read_processor_time() -> float:
    """The processor time of this process and of the children that it has waited for, in seconds."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def charge_processor_time(seconds: float) -> None:
    """Shorten what is left of the processor time by what a child has used, which the timer doesn't count."""
    left_s, _ = signal.getitimer(signal.ITIMER_PROF)
    # 0 without a limit, as in tests.
    if left_s:
        signal.setitimer(signal.ITIMER_PROF, max(left_s - seconds, _SHORTEST_TIMER_S))


@contextmanager
def limit_resources(*, is_quick: bool = False) -> Iterator[None]:
    """Limit the block's time, and raise `TemplateLimitExceeded` if it runs out of processor time, memory or stack.

    Raises `TooSlowForLane` if the block took more processor time than the quick lane allows, and `RendererBusy` if the
    machine gave it too little. Works in the main thread only, where gunicorn's sync worker handles requests.
    """
    processor_s = QUICK_PROCESSOR_SECONDS if is_quick else MAX_PROCESSOR_SECONDS
    try:
        with (
            _kill_after(processor_s + KILL_AFTER_SECONDS),
            _raise_after(signal.ITIMER_REAL, signal.SIGALRM, MAX_SECONDS, time.monotonic, _TimeIsUp),
            _raise_after(
                signal.ITIMER_PROF, signal.SIGPROF, processor_s, read_processor_time, ProcessorTimeIsUp
            ),
        ):
            yield
    except ProcessorTimeIsUp:
        # Not the template's fault: it has more time in the slow lane.
        if is_quick:
            raise TooSlowForLane from None
        detail = f"Rendering took more than {processor_s:g} s of processor time."
        raise TemplateLimitExceeded(detail) from None
    except _TimeIsUp:
        raise RendererBusy from None
    # Caught out here, where the block's objects are gone and there is memory and stack again to build an answer.
    except MemoryError:
        raise TemplateLimitExceeded("Rendering needed too much memory.") from None
    except RecursionError:
        raise TemplateLimitExceeded("The template is nested too deeply.") from None


@contextmanager
def _raise_after(
    kind: int,
    signal_number: signal.Signals,
    seconds: float,
    clock: Callable[[], float],
    error: type[BaseException],
) -> Iterator[None]:
    """A signal interrupts Python code and regular expressions, but no other native code.

    Some kernels count processor time in ticks, so that the timer may run out a third too early. `clock` is exact: if
    there is time left, the timer is started again.
    """
    ends_at = clock() + seconds

    def raise_error(_signal_number: int, _frame: object) -> None:
        left = ends_at - clock()
        if left <= 0:
            raise error
        signal.setitimer(kind, max(left, _SHORTEST_TIMER_S))

    # The handler before the timer, as an unhandled SIGALRM or SIGPROF kills the process.
    previous = signal.signal(signal_number, raise_error)
    signal.setitimer(kind, seconds)
    try:
        yield
    finally:
        signal.setitimer(kind, 0)
        signal.signal(signal_number, previous)


@contextmanager
def _kill_after(seconds: float) -> Iterator[None]:
    """Have the kernel kill this process if it keeps using the processor. Gunicorn starts another.

    SIGVTALRM has no handler, so it kills the process. The timer starts with the block, so errors don't add up from one
    message to the next. RLIMIT_CPU counts the whole life of the process in ticks, from which exact clocks drift away.
    """
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)

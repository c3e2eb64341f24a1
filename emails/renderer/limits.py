"""What one request may cost. Templates are written by merchants, so every one of these bounds is reachable."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from emails.renderer.problems import TemplateLimitExceeded

MAX_BODY_BYTES = 256 * 1024
MAX_RENDER_SECONDS = 3.0
MAX_WORKER_MEMORY_BYTES = 512 * 1024 * 1024

MAX_LOOP_ITERATIONS = 10_000
MAX_BLOCK_NESTING = 30
MAX_LOCAL_NAMESPACE_BYTES = 1024 * 1024
MAX_OUTPUT_BYTES = 1024 * 1024
MAX_HTML_CHARACTERS = 2 * 1024 * 1024

# The CSS inliner recurses natively: near 11,000 nested elements it overflows an 8 MiB stack and takes the
# worker with it. Counting tags bounds the nesting whatever a parser makes of them.
MAX_TAGS = 5_000

# Nor does a signal interrupt the inliner. Its time grows with the tags and with the square of the CSS, which
# these two keep below gunicorn's timeout: 16 KiB for 750 tags, 4 KiB for 3,000.
MAX_INLINE_CSS_CHARACTERS = 16 * 1024
MAX_INLINE_CSS_CHARACTERS_TIMES_TAGS = 12_000_000


class _TimeIsUp(BaseException):
    """Not an `Exception`, so that no library's catch-all handler swallows it."""


@contextmanager
def resource_limits() -> Iterator[None]:
    """Bound the block in time, and turn exhaustion of time, memory or stack into `TemplateLimitExceeded`.

    Works in the main thread only, which is where gunicorn's sync worker handles requests.
    """
    try:
        with _time_limit(MAX_RENDER_SECONDS):
            yield
    except _TimeIsUp:
        raise TemplateLimitExceeded(f"Rendering took longer than {MAX_RENDER_SECONDS:g} seconds.") from None
    except MemoryError:
        raise TemplateLimitExceeded("Rendering needed too much memory.") from None
    except RecursionError:
        raise TemplateLimitExceeded("The template is nested too deeply.") from None


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """A signal reaches Python loops and regular expressions; gunicorn's timeout is there for the rest."""
    previous = signal.signal(signal.SIGALRM, _raise_time_is_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _raise_time_is_up(_signal_number: int, _frame: FrameType | None) -> None:
    raise _TimeIsUp

"""Memory management between messages, so that no message is charged for what others have left behind."""

import gc
import resource
import sys
import time
from pathlib import Path

# Locale data and parsed templates stay in memory. A worker that is larger than this is replaced.
MAX_RESIDENT_BYTES = 200 * 1024 * 1024
# The share of its time that a worker spends on full garbage collections.
MAX_SHARE = 1 / 20
# As in Python: a full collection is due after so many of younger objects.
_PASSES = 10
_NEVER = 2**31 - 1

_MEMORY = Path("/proc/self/statm")


class GarbageCollection:
    """Full collections take up to half a second. Python would run them in the middle of a message."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def take_over(self) -> None:
        """Leave full collections to `run_if_due`, and exclude the imported modules from them."""
        # Younger generations are still collected by Python: that takes little time.
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, _NEVER)
        gc.collect()
        gc.freeze()

    def run_if_due(self) -> None:
        began = time.monotonic()
        if gc.get_count()[2] < _PASSES or began < self._next_at:
            return
        gc.collect()
        # The longer a collection takes, the longer until the next one.
        ended = time.monotonic()
        self._next_at = ended + (ended - began) / MAX_SHARE


def is_too_large() -> bool:
    """Whether this process uses more memory than a worker may keep. Known on Linux only."""
    if sys.platform != "linux":
        return False
    # The second number is the resident set, in pages (proc(5)).
    pages = int(_MEMORY.read_text().split()[1])
    return pages * resource.getpagesize() > MAX_RESIDENT_BYTES

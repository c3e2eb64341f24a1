"""The lanes of the renderer, which a request names in `X-Render-Lane`.

`quick` allows little processor time. `slow` allows the full limit, but one worker at a time, so that the others stay
free for quick messages. A request without a lane gets the full limit from any worker.

The file is opened before gunicorn forks its workers, so all of them share it. A lock belongs to one process and is
released when the process ends. A process that died while it held the lane has left its mark in the file: the lane stays
closed until another worker has started, as the next message may be just as deadly for the last one left.
"""

import fcntl
import os
import struct
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from emails.renderer.problems import RendererBusy

# Without a name, the file disappears with the last worker, however that ends.
_file, _path = tempfile.mkstemp()
Path(_path).unlink()

# How long the lane stays closed after a death, counted from when it was taken: a message has up to 8 s, and gunicorn
# takes a few to start another worker.
CLOSED_S = 15.0

# When the lane was taken, by a clock that all processes of the machine share.
_MARK = struct.Struct("d")


@contextmanager
def hold_slow_lane() -> Iterator[None]:
    """Raises `RendererBusy` while another worker holds the lane, and for a while after one died in it."""
    try:
        fcntl.lockf(_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        # Not waited for: a worker that waits would be lost to quick messages.
        raise RendererBusy from None
    try:
        _check_mark()
        os.pwrite(_file, _MARK.pack(time.monotonic()), 0)
        try:
            yield
        finally:
            os.truncate(_file, 0)
    finally:
        fcntl.lockf(_file, fcntl.LOCK_UN)


def _check_mark() -> None:
    """Raises `RendererBusy` if the last to hold the lane died a short while ago."""
    mark = os.pread(_file, _MARK.size, 0)
    if mark and time.monotonic() - _MARK.unpack(mark)[0] < CLOSED_S:
        raise RendererBusy("The last message in the slow lane ended its worker.")

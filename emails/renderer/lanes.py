"""The lanes of the renderer, which a request names in `X-Render-Lane`.

`quick` allows little processor time. `slow` allows the full limit, but one worker at a time, so that the others stay
free for quick messages. A request without a lane gets the full limit from any worker.

The file is opened before gunicorn forks its workers, so all of them share it. A lock belongs to one process and is
released when the process ends.
"""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from emails.renderer.problems import RendererBusy

# Without a name, the file disappears with the last worker, however that ends.
_file, _path = tempfile.mkstemp()
Path(_path).unlink()


@contextmanager
def hold_slow_lane() -> Iterator[None]:
    """Raises `RendererBusy` while another worker holds the lane."""
    try:
        fcntl.lockf(_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        # Not waited for: a worker that waits would be lost to quick messages.
        raise RendererBusy from None
    try:
        yield
    finally:
        fcntl.lockf(_file, fcntl.LOCK_UN)

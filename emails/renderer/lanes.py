"""One worker at a time for messages that may be slow, so that the others stay free for quick ones.

The file is opened before gunicorn forks its workers, so all of them share it. A lock belongs to one process and is
released when the process ends.
"""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from emails.renderer.problems import RendererBusy

_file, _path = tempfile.mkstemp()
Path(_path).unlink()


@contextmanager
def slow_lane() -> Iterator[None]:
    """Raises `RendererBusy` while another worker holds the lane."""
    try:
        fcntl.lockf(_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise RendererBusy from None
    try:
        yield
    finally:
        fcntl.lockf(_file, fcntl.LOCK_UN)

"""One worker at a time for everything that may be slow, so that the others are free for what is quick.

The file is opened before gunicorn forks its workers, which all have it then. Its lock belongs to one process, and is
released when that process ends.
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
    """Raises `RendererBusy` while another worker is in it."""
    try:
        fcntl.lockf(_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise RendererBusy from None
    try:
        yield
    finally:
        fcntl.lockf(_file, fcntl.LOCK_UN)

"""Prepares a process for being forked, so that its memory stays shared with the forked processes."""

import gc
import os
import re
import sys
import tempfile

# A row of the allocator's statistics: the class, its size in bytes, pools, blocks in use, free blocks.
_SIZE_CLASS = re.compile(rb"^ *\d+ +(\d+) +\d+ +\d+ +(\d+)$", re.MULTILINE)
_BYTES_OVERHEAD = sys.getsizeof(b"")

# What fills the gaps, for as long as the process lives.
_fillers: list[object] = []


def prepare_to_fork() -> None:
    """Leave all present objects out of later garbage collections, and fill the gaps between them.

    A forked process copies each page that it writes to. Collections write to the objects that they look at, and a new
    object that took the place of one that was freed here would have the page of all its neighbours copied.
    """
    gc.collect()
    gc.freeze()
    for size, free_blocks in _read_gaps():
        _fillers.extend(_make_filler(size, number) for number in range(free_blocks))


def _read_gaps() -> list[tuple[int, int]]:
    """The sizes of blocks in bytes, and how many are free in memory pages that are in use.

    Python's allocator has such blocks up to 512 bytes. Other allocators, which PYTHONMALLOC may choose, tell nothing.
    """
    try:
        statistics = _read_statistics()
    except OSError:
        # Without a standard error or a temporary folder.
        return []
    return [(int(size), int(free)) for size, free in _SIZE_CLASS.findall(statistics)]


def _read_statistics() -> bytes:
    # They are written to the standard error of C only.
    with tempfile.TemporaryFile() as statistics:
        stderr = os.dup(2)
        try:
            os.dup2(statistics.fileno(), 2)
            sys._debugmallocstats()  # noqa: SLF001  there is no public way
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        statistics.seek(0)
        return statistics.read()


def _make_filler(size: int, number: int) -> object:
    """An object that takes a block of this size."""
    if size >= _BYTES_OVERHEAD:
        # Not empty, as there is only one empty `bytes`.
        return bytes(size - _BYTES_OVERHEAD)
    return object() if size <= sys.getsizeof(object()) else float(number)

"""Whose code sends a statement, by the stack of calls."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType

from django.conf import settings

TESTS = Path(__file__).parent.parent


def own_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the project's own code, innermost first, up to and including the first one of a test."""
    while frame:
        if is_own(frame.f_code.co_filename):
            yield frame
            if is_of_a_test(frame.f_code.co_filename):
                return
        frame = frame.f_back


def is_sent_by_a_test(frame: FrameType | None) -> bool:
    """Whether the innermost of the project's own frames is a test's: tests may write any SQL they like."""
    innermost = next(own_frames(frame), None)
    return innermost is not None and is_of_a_test(innermost.f_code.co_filename)


@cache
def is_own(file_name: str) -> bool:
    path = Path(file_name)
    return path.is_relative_to(settings.BASE_DIR) and ".venv" not in path.parts


@cache
def is_of_a_test(file_name: str) -> bool:
    return Path(file_name).is_relative_to(TESTS)

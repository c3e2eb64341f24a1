"""Spans of work, for traces. Nothing is recorded unless the installation has set a recorder (config/telemetry)."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

Recorder = Callable[[str, Mapping[str, object]], AbstractContextManager[None]]

_recorders: list[Recorder] = []


def record_with(recorder: Recorder) -> None:
    """Record all spans from now on, with their names and attributes."""
    _recorders[:] = [recorder]


def span(name: str, **attributes: object) -> AbstractContextManager[None]:
    """Record what happens inside as a span. Attributes must not be personal data."""
    return _recorders[0](name, attributes) if _recorders else nullcontext()

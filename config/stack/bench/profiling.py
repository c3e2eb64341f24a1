"""Shows where the web process's time of a journey goes: by request, and by part of the code.

Runs journeys in this process, from the WSGI environment to the answer, so the server's event loop isn't part of it. A
signal arrives regularly while the processor works, and counts for the part of the code that runs. Unlike a profiler
that follows each call, it doesn't make code of many small functions look slower than it is.
"""

import gc
import json
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from time import process_time
from types import FrameType

from config.stack.processes import PROJECT_DIR

from .in_process import send
from .report import as_markdown
from .shop import Shop
from .shopping import STEPS_OF_JOURNEY, Shopping, journey

_WARM_UP = 20
_JOURNEYS = 300
_INTERVAL_SECONDS = 0.001

# The innermost function in one of these folders gets the time, so Python's own library and the parts written in C
# count for their callers. The first match wins. Folders of packages are relative to `site-packages`.
_PACKAGES = {
    "psycopg": "psycopg",
    "psycopg_pool": "psycopg",
    "asgiref": "Django: database connections",
    "django/db/models": "Django: ORM",
    "django/db": "Django: database connections",
    "django": "Django: requests, middleware, URLs",
    "rest_framework": "DRF: views and serializers",
    "redis": "Redis client",
}
_PROJECT = {
    "config/stack/bench": "",
    "commerce/tenancy": "scopes and prepared statements",
    "commerce/rest": "the API's conventions: fields, limits, idempotency, problems",
    "accounts": "keys and markets",
    "config": "the front's environment and answers",
    "commerce": "shared rules: orders, payments, inventory, outbox",
}


def main() -> None:
    """Read a shop from standard input, and write the tables to standard output, as Markdown."""
    shopping = Shopping(Shop(**json.load(sys.stdin)), host="localhost")
    _run(shopping, _WARM_UP)
    gc.collect()
    milliseconds = _run(shopping, _JOURNEYS)
    samples: Counter[str] = Counter()
    with sampling(samples):
        _run(shopping, _JOURNEYS)
    whole = sum(milliseconds.values())
    ours = [(step, f"{ms:.2f}", f"{ms / whole:.0%}") for step, ms in milliseconds.items()]
    parts = [
        (part, f"{whole * share:.2f}", f"{share:.0%}")
        for part, share in _shares_of(samples)
        if share >= 0.005
    ]
    print(*as_markdown(("Request", "ms", "of all"), [*ours, ("all", f"{whole:.2f}", "")]), sep="\n")
    print("", *as_markdown(("Part of the code", "ms", "of all"), parts), sep="\n")


@contextmanager
def sampling(samples: Counter[str]) -> Iterator[None]:
    """Count, after each millisecond of this process's processor time, the part of the code that runs."""

    def count(_number: int, frame: FrameType | None) -> None:
        while frame is not None and (part := find_part(frame.f_code.co_filename)) is None:
            frame = frame.f_back
        if frame is not None and part:
            samples[part] += 1

    before = signal.signal(signal.SIGPROF, count)
    signal.setitimer(signal.ITIMER_PROF, _INTERVAL_SECONDS, _INTERVAL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@cache
def find_part(file: str) -> str | None:
    """The part of the code that a file belongs to; None for Python's own library, and empty for this package."""
    _, is_package, path = file.rpartition("/site-packages/")
    if not is_package and not file.startswith(f"{PROJECT_DIR}/"):
        return None
    path = path if is_package else file.removeprefix(f"{PROJECT_DIR}/")
    found = _find_folder(path, _PACKAGES if is_package else _PROJECT)
    # What is left are apps of a shop, such as carts and checkouts, and small libraries.
    return path.partition("/")[0] if found is None else found


def _find_folder(path: str, folders: dict[str, str]) -> str | None:
    return next((part for folder, part in folders.items() if path.startswith(f"{folder}/")), None)


def _run(shopping: Shopping, number: int) -> dict[str, float]:
    """Run journeys. Returns the milliseconds of processor time per journey, by step."""
    spent = dict.fromkeys(STEPS_OF_JOURNEY, 0.0)
    for _ in range(number):
        client = journey(shopping)
        request = next(client)
        with suppress(StopIteration):
            while True:
                began = process_time()
                answer = send(request)
                spent[request.operation] += process_time() - began
                request = client.send(answer)
    return {step: seconds / number * 1000 for step, seconds in spent.items()}


def _shares_of(samples: Counter[str]) -> Iterable[tuple[str, float]]:
    return ((part, count / samples.total()) for part, count in samples.most_common())


if __name__ == "__main__":
    main()

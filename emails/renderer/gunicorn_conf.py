"""How gunicorn runs the renderer: `gunicorn -c python:emails.renderer.gunicorn_conf emails.renderer.wsgi:application`."""

import resource
import sys
from typing import Any

from commerce.forking import prepare_to_fork
from emails.renderer import lanes  # noqa: F401  opens its file before the workers are forked
from emails.renderer.formatting import find_cldr_locale
from emails.renderer.limits import MAX_WORKER_MEMORY_BYTES
from emails.renderer.upkeep import GarbageCollection, is_too_large

# One request at a time per process: the time limit is a signal, which only a process's main thread receives.
worker_class = "sync"
# At least two, as slow messages occupy one (emails/renderer/lanes.py).
workers = 2

# Loaded once, before the workers are forked: they share the code's memory, and a new one starts at once.
preload_app = True

# The last resort. The renderer's own limits are below.
timeout = 10

# Callers keep few requests under way. What waits longer than its caller is not rendered (emails/renderer/wsgi.py).
backlog = 64

# Limits the damage of memory leaks, also where `is_too_large` knows nothing. The jitter keeps workers from ending at once.
max_requests = 5_000
max_requests_jitter = 500
control_socket_disable = True


_garbage_collection = GarbageCollection()


def when_ready(_server: object) -> None:
    """Called before the workers are forked."""
    # Loads CLDR's data, which every message needs.
    find_cldr_locale("en").territories  # noqa: B018
    prepare_to_fork()


def post_fork(_server: object, _worker: object) -> None:
    """Limit the worker's memory. macOS ignores this limit, so there only the time limits apply."""
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MAX_WORKER_MEMORY_BYTES, MAX_WORKER_MEMORY_BYTES))


def post_worker_init(_worker: object) -> None:
    _garbage_collection.take_over()


def post_request(worker: Any, _request: object, _environ: object, _response: object) -> None:
    """Clean up after an answer, before the worker takes the next request."""
    if is_too_large():
        # Gunicorn starts another in its place.
        worker.alive = False
    else:
        _garbage_collection.run_if_due()

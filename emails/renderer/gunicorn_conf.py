"""How gunicorn runs the renderer: `gunicorn -c python:emails.renderer.gunicorn_conf emails.renderer.wsgi:application`."""

import resource
import sys

from emails.renderer import lanes  # noqa: F401  opens its file before the workers are forked
from emails.renderer.limits import MAX_WORKER_MEMORY_BYTES

# One request at a time per process: the time limit is a signal, which only a process's main thread receives.
worker_class = "sync"
# At least two, as slow messages occupy one (emails/renderer/lanes.py).
workers = 2

# The last resort. The renderer's own limits are below.
timeout = 10

max_requests = 5_000
max_requests_jitter = 500
control_socket_disable = True


def post_fork(_server: object, _worker: object) -> None:
    """Limit the worker's memory. macOS ignores this limit, so there only the time limits apply."""
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MAX_WORKER_MEMORY_BYTES, MAX_WORKER_MEMORY_BYTES))

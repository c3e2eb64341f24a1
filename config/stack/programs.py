"""The project's own programs: one-time steps, and the services that run after them."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from celery import Celery
from kombu.exceptions import OperationalError

from config.stack.data import DataDirectory
from config.stack.interpreter import Interpreter
from config.stack.ports import LOOPBACK
from config.stack.processes import Process, Service

_PROBE_SECONDS = 2

WORKER_TIMEOUTS = {"DATABASE_STATEMENT_TIMEOUT_S": "300", "DATABASE_TRANSACTION_TIMEOUT_S": "600"}

# A waiting connection costs a little memory but no thread, so many are allowed. A connection is closed if it doesn't
# send a complete request head within a minute.
CONNECTION_OPTIONS = (
    *("--http", "1", "--no-ws", "--backlog", "4096", "--backpressure", "16384"),
    *("--http1-header-read-timeout", "60000", "--http1-buffer-size", "65536"),
)

# The renderer runs templates written by merchants, so it gets no secret and no address of any other service.
_RENDERER_NAMES = {"HOME", "LANG", "LC_ALL", "PATH", "PYTHONPATH", "PYTHONUNBUFFERED", "TMPDIR", "TZ"}


@dataclass(frozen=True, kw_only=True)
class Programs:
    """Builds the processes for one data directory and one environment."""

    data: DataDirectory
    environment: Mapping[str, str]
    web_port: int
    interpreter: Interpreter = field(default_factory=lambda: Interpreter(executable=sys.executable))

    def migrate(self) -> Process:
        return self._step("migrate", "--no-input", "--verbosity=0")

    def collect_static(self) -> Process:
        return self._step("collectstatic", "--no-input", "--verbosity=0")

    def seed(self) -> Process:
        return self._step("seed_demo", "--output", str(self.data.seed))

    def web(self) -> list[Service]:
        """Two servers that share a port, so that one answers while the other is restarted."""
        return [
            self._service(
                f"web-{number}",
                *("granian", "--interface", "rsgi", "--host", LOOPBACK, "--port", str(self.web_port)),
                *("--workers", "1", "--log-level", "warning", *CONNECTION_OPTIONS),
                # A worker that has just started can miss the stop signal; without this limit it would never end.
                *("--respawn-failed-workers", "--workers-kill-timeout", "3"),
                "config.rsgi:application",
                is_ready=partial(answers, f"{LOOPBACK}:{self.web_port}", "/readyz"),
            )
            for number in (1, 2)
        ]

    def worker(self) -> Service:
        """The task worker. Its SQL statements may take longer than those of requests."""
        node = f"commerce-{self.web_port}@{LOOPBACK}"
        return self._service(
            "worker",
            *("celery", "-A", "config", "worker", "--hostname", node, "--loglevel", "info"),
            *("--concurrency", "2", "--without-gossip", "--without-mingle"),
            is_ready=partial(
                _answers_ping, Celery(broker=self.environment["REDIS_URL"], set_as_current=False), node
            ),
            **WORKER_TIMEOUTS,
        )

    def beat(self) -> Service:
        """The scheduler. It has no health check of its own; `/readyz` reports late tasks instead."""
        return self._service(
            "beat",
            *("celery", "-A", "config", "beat", "--loglevel", "info"),
            *("--schedule", str(self.data.beat_schedule), "--pidfile", ""),
            is_ready=lambda: True,
        )

    def renderer(self) -> Service:
        address = urlsplit(self.environment["RENDERER_URL"]).netloc
        service = self._service(
            "renderer",
            *("gunicorn", "--config", "python:emails.renderer.gunicorn_conf", "--bind", address),
            "emails.renderer.wsgi:application",
            is_ready=partial(answers, address, "/healthz"),
        )
        allowed = _RENDERER_NAMES | self.interpreter.environment.keys()
        service.environment = {k: v for k, v in (service.environment or {}).items() if k in allowed}
        return service

    def _step(self, *arguments: str) -> Process:
        return Process(
            name=arguments[0],
            command=[self.interpreter.executable, "manage.py", *arguments],
            log=self.data.log(arguments[0]),
            pid_file=self.data.pid_file(arguments[0]),
            environment={**self.environment, **self.interpreter.environment},
            user=self.interpreter.user,
        )

    def _service(self, name: str, *arguments: str, is_ready: Callable[[], bool], **defaults: str) -> Service:
        """Build a service. Only the steps may change the schema, so services don't get the owner's database URL."""
        unprivileged = {**self.environment, "DATABASE_OWNER_URL": self.environment["DATABASE_URL"]}
        return Service(
            name=name,
            command=[self.interpreter.executable, "-m", *arguments],
            log=self.data.log(name),
            pid_file=self.data.pid_file(name),
            environment={**defaults, **unprivileged, **self.interpreter.environment},
            user=self.interpreter.user,
            is_ready=is_ready,
        )


def answers(address: str, path: str) -> bool:
    """Whether a GET request is answered with 200."""
    connection = HTTPConnection(address, timeout=_PROBE_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _answers_ping(app: Celery, node: str) -> bool:
    try:
        return bool(app.control.ping(destination=[node], timeout=_PROBE_SECONDS / 4))
    except (OSError, OperationalError):
        return False

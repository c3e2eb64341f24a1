"""The project's own programs: one-time steps, and the services that run after them."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from config.stack.data import DataDirectory
from config.stack.forking import ForkServer
from config.stack.interpreter import Interpreter
from config.stack.ports import LOOPBACK
from config.stack.processes import Process, Service

if TYPE_CHECKING:
    from celery import Celery

_PROBE_SECONDS = 2

# Tasks and commands may take longer than requests.
LONG_TIMEOUTS = {"DATABASE_STATEMENT_TIMEOUT_S": "300", "DATABASE_TRANSACTION_TIMEOUT_S": "600"}

# A waiting connection costs a little memory but no thread, so many are allowed. A connection is closed if it doesn't
# send a complete request head within a minute.
CONNECTION_OPTIONS = (
    *("--http", "1", "--no-ws", "--backlog", "4096", "--backpressure", "16384"),
    *("--http1-header-read-timeout", "60000", "--http1-buffer-size", "65536"),
)

# A shopper waits for an answer, an email can wait: while requests need all processors, emails and tasks get a third of a
# web server's share.
_NICENESS = 5

# glibc would keep up to sixteen separate heaps for the threads of a program, each with gaps of its own. In CPython, hardly
# two of them allocate memory at the same time.
_ALLOCATION = {"MALLOC_ARENA_MAX": "2"}

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
        """Change the schema. Only this program gets the owner's database URL."""
        return self._step("migrate", "--no-input", "--verbosity=0")

    def check_migrated(self) -> Process:
        """Succeed if the database has all migrations."""
        return self._forked_step("migrate", "--check")

    def collect_static(self) -> Process:
        return self._step("collectstatic", "--no-input", "--verbosity=0")

    def seed(self) -> Process:
        return self._forked_step("seed_demo", "--output", str(self.data.seed))

    @cached_property
    def fork_server(self) -> ForkServer:
        """Forks the other programs, except for the renderer, which may know nothing of what they know."""
        name = "forkserver"
        return ForkServer(
            name=name,
            command=[self.interpreter.executable, "-m", "config.stack.forkserver"],
            log=self.data.log(name),
            pid_file=self.data.pid_file(name),
            environment=self._unprivileged,
            user=self.interpreter.user,
        )

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

    def load_checks(self) -> None:
        """Import what asks whether the worker is ready. It takes long, and there is nothing else to do at first."""
        _make_client(self.environment["REDIS_URL"])

    def worker(self) -> Service:
        """The task worker. Its SQL statements may take longer than those of requests."""
        node = f"commerce-{self.web_port}@{LOOPBACK}"
        return self._service(
            "worker",
            *("celery", "-A", "config", "worker", "--hostname", node, "--loglevel", "info"),
            *("--concurrency", "2", "--without-gossip", "--without-mingle"),
            is_ready=partial(_answers_ping, self.environment["REDIS_URL"], node),
            niceness=_NICENESS,
            **LONG_TIMEOUTS,
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
            niceness=_NICENESS,
        )
        allowed = _RENDERER_NAMES | self._own_environment.keys()
        service.environment = {k: v for k, v in (service.environment or {}).items() if k in allowed}
        return service

    def _step(self, *arguments: str) -> Process:
        return Process(
            name=arguments[0],
            command=[self.interpreter.executable, "manage.py", *arguments],
            log=self.data.log(arguments[0]),
            pid_file=self.data.pid_file(arguments[0]),
            environment=self._environment,
            user=self.interpreter.user,
        )

    def _forked_step(self, *arguments: str) -> Process:
        return Process(
            name=arguments[0],
            command=[self.interpreter.executable, "-m", "manage", *arguments],
            log=self.data.log(arguments[0]),
            pid_file=self.data.pid_file(arguments[0]),
            environment={**LONG_TIMEOUTS, **self._unprivileged},
            user=self.interpreter.user,
            forker=self.fork_server,
        )

    def _service(
        self,
        name: str,
        *arguments: str,
        is_ready: Callable[[], bool],
        niceness: int = 0,
        **defaults: str,
    ) -> Service:
        return Service(
            name=name,
            command=[self.interpreter.executable, "-m", *arguments],
            log=self.data.log(name),
            pid_file=self.data.pid_file(name),
            environment={**defaults, **self._unprivileged},
            user=self.interpreter.user,
            is_ready=is_ready,
            forker=self.fork_server,
            niceness=niceness,
        )

    @property
    def _unprivileged(self) -> dict[str, str]:
        return {**self._environment, "DATABASE_OWNER_URL": self.environment["DATABASE_URL"]}

    @property
    def _environment(self) -> dict[str, str]:
        return {**_ALLOCATION, **self.environment, **self._own_environment}

    @property
    def _own_environment(self) -> dict[str, str]:
        """What is needed to run the interpreter, and to start quickly."""
        if not (self.interpreter.user or sys.dont_write_bytecode):
            return {**self.interpreter.environment}
        # Otherwise they would compile all modules at each start: they can't, or may not, write beside the sources.
        bytecode = {"PYTHONPYCACHEPREFIX": str(self.data.bytecode), "PYTHONDONTWRITEBYTECODE": ""}
        return {**self.interpreter.environment, **bytecode}


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


def _answers_ping(broker_url: str, node: str) -> bool:
    from kombu.exceptions import OperationalError

    try:
        replies = _make_client(broker_url).control.ping(destination=[node], timeout=_PROBE_SECONDS / 4)
    except (OSError, OperationalError):
        return False
    return bool(replies)


@cache
def _make_client(broker_url: str) -> "Celery":
    # Imported here, while the programs are loading: see `Programs.load_checks`.
    from celery import Celery

    client = Celery(broker=broker_url, set_as_current=False)
    client.control  # noqa: B018  imports what it needs
    return client

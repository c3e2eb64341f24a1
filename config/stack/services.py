"""The project's own processes: the steps before serving, and what serves."""

import hashlib
import sys
from collections.abc import Callable, Mapping
from functools import partial
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from celery import Celery
from kombu.exceptions import OperationalError

from .data import DataDirectory
from .ports import LOOPBACK
from .processes import PROJECT, Process, Program, run_to_end
from .waiting import Pause

STEP_SECONDS = 300
PROBE_SECONDS = 2

Environment = Mapping[str, str]
Check = Callable[[], bool]


def prepare_database(data: DataDirectory, environment: Environment, *, pause: Pause) -> None:
    """Migrate and seed; both do nothing where everything is there already."""
    _manage(data, environment, "migrate", "--no-input", "--verbosity=0", pause=pause)
    _manage(data, environment, "seed_demo", "--output", str(data.seed), pause=pause)
    data.seed.chmod(0o600)


def collect_static(data: DataDirectory, environment: Environment, *, pause: Pause) -> None:
    """Collect the static files unless neither the packages nor the project's own files have changed."""
    stamp, version = data.root / "static.stamp", _static_version()
    if stamp.exists() and stamp.read_text() == version and data.static.exists():
        return
    _manage(data, environment, "collectstatic", "--no-input", "--verbosity=0", pause=pause)
    stamp.write_text(version)


def start_web(data: DataDirectory, environment: Environment, *, port: int) -> Process:
    command = _module(
        "granian",
        *("--interface", "wsgi", "--host", LOOPBACK, "--port", str(port), "--no-ws"),
        *("--workers", "2", "--blocking-threads", "8", "--backlog", "1024"),
        # Without a limit a worker that has just been started can swallow the signal and never end.
        *("--respawn-failed-workers", "--workers-kill-timeout", "3", "--log-level", "warning"),
        "config.wsgi:application",
    )
    return Process(Program(name="web", command=command, environment=environment), data=data)


def start_worker(data: DataDirectory, environment: Environment) -> Process:
    command = _module(
        "celery",
        *("-A", "config", "worker", "--beat", "--schedule", str(data.root / "celerybeat-schedule")),
        *("--concurrency", "2", "--loglevel", "info", "--without-gossip", "--without-mingle"),
    )
    return Process(Program(name="worker", command=command, environment=environment), data=data)


def start_renderer(data: DataDirectory, environment: Environment) -> Process:
    command = _module(
        "gunicorn",
        *("--config", "python:emails.renderer.gunicorn_conf"),
        *("--bind", urlsplit(environment["RENDERER_URL"]).netloc),
        "emails.renderer.wsgi:application",
    )
    return Process(Program(name="renderer", command=command, environment=environment), data=data)


def answers(url: str) -> Check:
    """A check that a GET of this address is answered with 200."""
    parts = urlsplit(url)
    return partial(_answers, parts.netloc, parts.path)


def worker_answers(broker_url: str) -> Check:
    """A check that a Celery worker answers a ping."""
    return partial(_ping, Celery(broker=broker_url, set_as_current=False))


def _answers(host: str, path: str) -> bool:
    connection = HTTPConnection(host, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _ping(app: Celery) -> bool:
    try:
        return bool(app.control.ping(timeout=PROBE_SECONDS / 4, limit=1))
    except (OSError, OperationalError):
        return False


def _manage(data: DataDirectory, environment: Environment, *arguments: str, pause: Pause) -> None:
    program = Program(
        name=arguments[0],
        command=(sys.executable, str(PROJECT / "manage.py"), *arguments),
        environment=environment,
    )
    run_to_end(program, data=data, seconds=STEP_SECONDS, pause=pause)


def _module(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", *arguments)


def _static_version() -> str:
    """A digest of what the collected files depend on: packages, settings, and the project's static folders."""
    digest = hashlib.sha256()
    for path in (PROJECT / "requirements" / "base.txt", PROJECT / "config" / "settings.py"):
        digest.update(path.read_bytes())
    for path in sorted(PROJECT.glob("[a-z]*/**/static/**/*")):
        status = path.stat()
        digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()

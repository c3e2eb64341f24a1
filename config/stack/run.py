"""`make run`: start everything, say so, and keep it running until told to stop."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from . import services
from .announcement import announce
from .data import DataDirectory
from .environment import External, external_servers, process_environment
from .errors import Interrupted, StackError
from .memory import Memory, recall
from .orphans import stop_orphans
from .ports import web_port
from .postgres import plan_cluster, start_cluster
from .processes import PROJECT
from .redis import plan_redis, start_redis
from .roles import create_database, create_roles
from .supervisor import Supervisor
from .waiting import StopSignals

DEFAULT_PORT = "8000"
ANSWER_SECONDS = 90


def run() -> int:
    """Returns the exit status: 0 after a stop signal, 1 when it could not start or go on."""
    signals = StopSignals()
    signals.install()
    data = DataDirectory(Path(os.environ.get("DATA_DIR") or PROJECT / ".data").resolve())
    try:
        data.prepare()
        with data.locked():
            _run_in(data, signals)
    except Interrupted:
        return 0
    except StackError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _run_in(data: DataDirectory, signals: StopSignals) -> None:
    data.demo.unlink(missing_ok=True)
    stop_orphans(data, pause=signals.pause)
    external = external_servers(os.environ)
    port = web_port(os.environ.get("PORT") or DEFAULT_PORT)
    supervisor = Supervisor(signals)
    try:
        environment = _start(data, external, supervisor, signals, port=port)
        announce(data, environment)
        supervisor.watch()
    finally:
        data.demo.unlink(missing_ok=True)
        print("Stopping.", flush=True)
        supervisor.stop()


def _start(
    data: DataDirectory, external: External, supervisor: Supervisor, signals: StopSignals, *, port: int
) -> Mapping[str, str]:
    """Start everything and wait until it answers; returns the environment of the project's processes."""
    is_first_run = not data.memory.exists()
    memory = recall(data.memory, web_port=port)
    environment = process_environment(data, memory, web_port=port, surroundings=os.environ)
    if not external.database:
        _start_postgres(data, memory, supervisor, signals, is_first_run=is_first_run)
    if not external.redis:
        _start_redis(data, memory, supervisor, signals)
    if not external.renderer:
        supervisor.add(services.start_renderer(data, environment))
    print("Preparing the database.", flush=True)
    services.prepare_database(data, environment, pause=signals.pause)
    services.collect_static(data, environment, pause=signals.pause)
    print("Starting the web server, the worker and the renderer.", flush=True)
    supervisor.add(services.start_worker(data, environment))
    supervisor.add(services.start_web(data, environment, port=port))
    supervisor.wait_for(_checks(environment, external, port=port), seconds=ANSWER_SECONDS)
    return environment


def _start_postgres(
    data: DataDirectory, memory: Memory, supervisor: Supervisor, signals: StopSignals, *, is_first_run: bool
) -> None:
    cluster = plan_cluster(data, port=memory.postgres_port, password=memory.superuser_password)
    if is_first_run and cluster.exists:
        raise StackError(
            f"{data.memory}, which held the passwords of {cluster.directory}, is gone. "
            "Bring it back, or remove the data directory."
        )
    print(f"Starting PostgreSQL in {cluster.directory}.", flush=True)
    supervisor.add(start_cluster(cluster, data=data, pause=signals.pause))
    create_roles(cluster.conninfo(), owner_password=memory.owner_password, app_password=memory.app_password)
    create_database(cluster.conninfo())


def _start_redis(data: DataDirectory, memory: Memory, supervisor: Supervisor, signals: StopSignals) -> None:
    server = plan_redis(data, port=memory.redis_port, password=memory.redis_password)
    print(f"Starting Redis in {server.directory}.", flush=True)
    supervisor.add(start_redis(server, data=data, pause=signals.pause))


def _checks(environment: Mapping[str, str], external: External, *, port: int) -> dict[str, services.Check]:
    checks = {
        "web": services.answers(f"http://127.0.0.1:{port}/readyz"),
        "worker": services.worker_answers(environment["REDIS_URL"]),
    }
    if not external.renderer:
        checks["renderer"] = services.answers(f"{environment['RENDERER_URL']}/healthz")
    return checks

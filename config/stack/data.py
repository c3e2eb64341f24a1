"""The data directory: its layout, its permissions, and the lock that admits one run at a time."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from config.stack.errors import StackError
from config.stack.privileges import ServiceUser
from config.stack.processes import PROJECT_DIR


@dataclass(frozen=True)
class DataDirectory:
    root: Path

    @classmethod
    def choose(cls, surroundings: Mapping[str, str]) -> Self:
        """Return the directory named by DATA_DIR, else `.data` in the project."""
        return cls(Path(surroundings.get("DATA_DIR") or PROJECT_DIR / ".data").resolve())

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def pids(self) -> Path:
        return self.root / "run"

    @property
    def mail(self) -> Path:
        return self.root / "mail"

    @property
    def static(self) -> Path:
        return self.root / "static"

    @property
    def metrics(self) -> Path:
        """Metrics of this run's processes. Emptied at the start, since each scrape reads all files."""
        return self.root / "metrics"

    @property
    def memory(self) -> Path:
        return self.root / "env.json"

    @property
    def programs(self) -> Path:
        """Other files written by the project's programs."""
        return self.root / "programs"

    @property
    def seed(self) -> Path:
        return self.programs / "seed.json"

    @property
    def bytecode(self) -> Path:
        """Compiled modules of the project's programs."""
        return self.root / "bytecode"

    @property
    def demo(self) -> Path:
        """Exists only while the stack is up and answers."""
        return self.root / "demo.json"

    @property
    def static_version(self) -> Path:
        return self.root / "static.version"

    @property
    def migrated_version(self) -> Path:
        return self.root / "migrated.version"

    @property
    def beat_schedule(self) -> Path:
        return self.programs / "celerybeat-schedule"

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def pid_file(self, name: str) -> Path:
        return self.pids / f"{name}.pid"

    def prepare(self) -> None:
        if not self.root.exists():
            self.root.mkdir(parents=True)
            # When started by root, the servers run as another user, who must be able to reach their folders.
            self.root.chmod(0o711 if os.geteuid() == 0 else 0o700)
        for folder in (self.logs, self.pids, *self.written_by_programs):
            folder.mkdir(mode=0o700, exist_ok=True)
        # Earlier versions kept the file here.
        if (before := self.root / "seed.json").exists():
            before.replace(self.seed)

    @property
    def written_by_programs(self) -> tuple[Path, ...]:
        return (self.mail, self.static, self.metrics, self.programs, self.bytecode)

    def give_to(self, user: ServiceUser) -> None:
        """Make the user the owner of the folders that the programs write to."""
        for folder in self.written_by_programs:
            user.own(folder)

    def rotate_logs(self) -> None:
        """Start new logs. The logs of the previous run are kept as `<name>.log.1`."""
        for log in self.logs.glob("*.log"):
            log.replace(log.with_suffix(".log.1"))

    @contextmanager
    def hold_lock(self) -> Iterator[None]:
        """Lock the directory. Raises `StackError` if another run has locked it."""
        # Appending creates the file and keeps what another run has written to it. The kernel drops the lock of a run that
        # is killed.
        with (self.root / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                raise StackError(
                    f"Another run (process {lock.read().strip()}) is using {self.root}; stop it first."
                ) from None
            lock.truncate(0)
            lock.write(f"{os.getpid()}\n")
            # So that another run, which is refused, can name this process.
            lock.flush()
            yield


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a file that only its owner can read. It is replaced atomically, so readers never see half of it."""
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    # Created with these rights, rather than restricted afterwards, as it contains secrets.
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
    partial.replace(path)

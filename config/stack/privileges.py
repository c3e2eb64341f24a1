"""Drops privileges when started by root: the servers run as one unprivileged user, our programs as another."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from config.stack.errors import StackError

_CANDIDATES = ("postgres", "nobody")
_PROGRAM_CANDIDATES = ("www-data", "daemon", "nobody")


@dataclass(frozen=True)
class ServiceUser:
    """An unprivileged user. Switching to it drops all capabilities."""

    name: str
    uid: int
    gid: int

    def popen_arguments(self) -> dict[str, Any]:
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can_enter(self, directory: Path) -> bool:
        """Whether the user may traverse every directory of the path. Changes no permissions."""
        done = subprocess.run(
            ["/bin/sh", "-c", 'cd "$1"', "sh", str(directory)],
            cwd="/",
            check=False,
            capture_output=True,
            **self.popen_arguments(),
        )
        return done.returncode == 0

    def can_run(self, command: Sequence[str], environment: Mapping[str, str]) -> bool:
        """Whether a short program succeeds when run by this user."""
        try:
            done = subprocess.run(
                command,
                cwd="/",
                env=os.environ | environment,
                check=False,
                capture_output=True,
                timeout=60,
                **self.popen_arguments(),
            )
        except OSError:
            return False
        return done.returncode == 0

    def own(self, directory: Path) -> None:
        """Make this user the owner of the directory and everything in it, unless it already is."""
        if directory.stat().st_uid == self.uid:
            return
        for path in [directory, *directory.rglob("*")]:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


@cache
def find_service_user() -> ServiceUser | None:
    """Find the user to run the servers as; None if this process is already unprivileged."""
    if os.geteuid() != 0:
        return None
    user = _find_user(_CANDIDATES)
    if user is None:
        raise StackError(
            f"PostgreSQL can't run as root, and there is no user {' or '.join(_CANDIDATES)} to run it."
        )
    return user


@cache
def find_program_user() -> ServiceUser | None:
    """Find the user to run the project's programs as; None if there is none. It can't read the servers' files."""
    servers = find_service_user()
    return servers and _find_user([name for name in _PROGRAM_CANDIDATES if name != servers.name])


def _find_user(names: Sequence[str]) -> ServiceUser | None:
    for name in names:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServiceUser(name, entry.pw_uid, entry.pw_gid)
    return None


def find_servers_dir(data_dir: Path) -> Path:
    """Return where the servers keep their data: the data directory, or another place that their user can access."""
    user = find_service_user()
    return data_dir if user is None or user.can_enter(data_dir) else _make_enterable_dir(data_dir)


def _make_enterable_dir(data_dir: Path) -> Path:
    """Create a folder in /var/tmp, which every user can enter. Raises `StackError` if somebody else made it."""
    digest = sha256(os.fsencode(data_dir.resolve())).hexdigest()[:12]
    place = Path("/var/tmp") / f"commerce-{digest}"  # noqa: S108  checked to be ours below
    place.mkdir(mode=0o711, exist_ok=True)
    # Anybody can create folders in /var/tmp, under any name.
    if place.is_symlink() or place.stat().st_uid != os.geteuid():
        raise StackError(f"{place} belongs to someone else; set DATA_DIR to a folder that you own.")
    place.chmod(0o711)
    return place


def find_package_dir(name: str) -> Path | None:
    """Find the folder of an installed package without importing it; None if it isn't installed."""
    spec = find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def find_runnable_binaries(binaries: Path, *, package: Path, copies: Path) -> Path:
    """Return a package's folder of programs, or a copy of it if the service user can't access the package."""
    user = find_service_user()
    if user is None or user.can_enter(binaries):
        return binaries
    # The programs load libraries from a folder beside the package. The time stamp gives each version its own copy.
    target = copies / f"programs-{package.stat().st_mtime_ns}"
    if not target.exists():
        # Renamed only when complete, so that an interrupted copy is never used.
        partial = target.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        for source in (package, package.with_name(f"{package.name}.libs")):
            if source.is_dir():
                shutil.copytree(source, partial / source.name, symlinks=True)
        make_readable(partial)
        partial.rename(target)
    return target / package.name / binaries.relative_to(package)


def make_readable(directory: Path) -> None:
    for path in (directory, *directory.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))

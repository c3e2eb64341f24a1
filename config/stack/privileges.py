"""As root, nothing that serves runs as root: the servers as one unprivileged user, the project's programs as another."""

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
    """An unprivileged user; becoming it drops every capability."""

    name: str
    uid: int
    gid: int

    def popen_arguments(self) -> dict[str, Any]:
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can_enter(self, directory: Path) -> bool:
        """Whether every directory on the way may be traversed; nothing is changed to make it so."""
        done = subprocess.run(
            ["/bin/sh", "-c", 'cd "$1"', "sh", str(directory)],
            cwd="/",
            check=False,
            capture_output=True,
            **self.popen_arguments(),
        )
        return done.returncode == 0

    def can_run(self, command: Sequence[str], environment: Mapping[str, str]) -> bool:
        """Whether a short program ends well for this user."""
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
        """Hands the directory over with all that is in it, unless it belongs to this user already."""
        if directory.stat().st_uid == self.uid:
            return
        for path in [directory, *directory.rglob("*")]:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


@cache
def service_user() -> ServiceUser | None:
    """The user to run the servers as; None when this process is unprivileged already."""
    if os.geteuid() != 0:
        return None
    user = _first_of(_CANDIDATES)
    if user is None:
        raise StackError(
            f"Root can't run PostgreSQL itself and finds no user {' or '.join(_CANDIDATES)} for it."
        )
    return user


@cache
def program_user() -> ServiceUser | None:
    """The user to run the project's programs as, to whom the servers' files are closed; None where there is none."""
    servers = service_user()
    return servers and _first_of([name for name in _PROGRAM_CANDIDATES if name != servers.name])


def _first_of(names: Sequence[str]) -> ServiceUser | None:
    for name in names:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServiceUser(name, entry.pw_uid, entry.pw_gid)
    return None


def servers_dir(data_dir: Path) -> Path:
    """Where the servers keep their data: the data directory, or a place that their user can get to."""
    user = service_user()
    return data_dir if user is None or user.can_enter(data_dir) else _enterable_dir(data_dir)


def _enterable_dir(data_dir: Path) -> Path:
    digest = sha256(os.fsencode(data_dir.resolve())).hexdigest()[:12]
    place = Path("/var/tmp") / f"commerce-{digest}"  # noqa: S108  checked to be ours below
    place.mkdir(mode=0o711, exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.geteuid():
        raise StackError(f"{place} belongs to someone else; set DATA_DIR to a place of your own.")
    place.chmod(0o711)
    return place


def package_dir(name: str) -> Path | None:
    """The folder of an installed package, found without importing it; None when it isn't installed."""
    spec = find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def runnable_binaries(binaries: Path, *, package: Path, copies: Path) -> Path:
    """The folder of programs within a package, or a copy of it when the service user can't get to the package."""
    user = service_user()
    if user is None or user.can_enter(binaries):
        return binaries
    # The programs look for their libraries in a folder beside the package; another version is another copy.
    target = copies / f"programs-{package.stat().st_mtime_ns}"
    if not target.exists():
        _copy_packages(package, package.with_name(f"{package.name}.libs"), target=target)
    return target / package.name / binaries.relative_to(package)


def _copy_packages(*sources: Path, target: Path) -> None:
    partial = target.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    for source in sources:
        if source.is_dir():
            shutil.copytree(source, partial / source.name, symlinks=True)
    make_readable(partial)
    partial.rename(target)


def make_readable(directory: Path) -> None:
    for path in (directory, *directory.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))

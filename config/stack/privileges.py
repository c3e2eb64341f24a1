"""PostgreSQL refuses to run as root: as root, the servers run as an unprivileged user."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

_CANDIDATES = ("postgres", "nobody")


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

    def own(self, directory: Path) -> None:
        """Makes the directory, readable by this user alone; its content is handed over as well."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if directory.stat().st_uid == self.uid:
            return
        for path in [directory, *directory.rglob("*")]:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


@cache
def service_user() -> ServiceUser | None:
    """The user to run the servers as; None when this process is unprivileged already."""
    if os.geteuid() != 0:
        return None
    for name in _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServiceUser(name, entry.pw_uid, entry.pw_gid)
    raise LookupError(f"As root, one of the users {', '.join(_CANDIDATES)} is needed to run PostgreSQL.")


def server_dir(data_dir: Path) -> Path:
    """Where the servers keep their data: the data directory itself, or a place that their user can enter."""
    data_dir.mkdir(mode=0o711, parents=True, exist_ok=True)
    user = service_user()
    if user is None or user.can_enter(data_dir):
        return data_dir
    return _enterable_dir(data_dir)


def _enterable_dir(data_dir: Path) -> Path:
    digest = sha256(os.fsencode(data_dir.resolve())).hexdigest()[:12]
    place = Path("/var/tmp") / f"commerce-{digest}"  # noqa: S108  checked to be ours below
    place.mkdir(mode=0o711, exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.geteuid():
        raise PermissionError(f"{place} belongs to someone else.")
    place.chmod(0o711)
    return place


def runnable_binaries(binaries: Path, *, package: Path, copies: Path) -> Path:
    """The folder of programs, or a copy when the service user can't reach the package it belongs to.

    Libraries beside the package (`<package>.libs`) are copied along, as the programs look for them there.
    """
    user = service_user()
    if user is None or user.can_enter(binaries):
        return binaries
    target = copies / "binaries"
    for source in (package, package.with_name(f"{package.name}.libs")):
        if source.is_dir() and not (target / source.name).exists():
            shutil.copytree(source, target / source.name, symlinks=True)
    for path in [target, *target.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    return target / package.name / binaries.relative_to(package)

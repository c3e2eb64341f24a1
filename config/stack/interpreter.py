"""Chooses the Python interpreter of the project's programs, and the user that they run as."""

import shutil
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from config.stack.privileges import ServiceUser, find_program_user, find_servers_dir, make_readable
from config.stack.processes import PROJECT_DIR

_IMPORT = "import django, celery, granian, gunicorn"
_LEFT_OUT = ("site-packages", "test", "idlelib", "tkinter", "ensurepip", "lib2to3", "config-*")


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    executable: str
    # None for the user who started the stack.
    user: ServiceUser | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def choose_interpreter(data_dir: Path) -> Interpreter:
    """Choose an interpreter and, when started by root, an unprivileged user who can run it.

    If that user can't run this interpreter because it lies in root's folders, use a copy of it.
    """
    ours = Interpreter(executable=sys.executable)
    user = find_program_user()
    if user is None:
        return ours
    for place in (PROJECT_DIR, Path(sysconfig.get_path("purelib")), data_dir):
        if not user.can_enter(place):
            print(f"The programs run as root: the user {user.name} can't access {place}.", flush=True)
            return ours
    if user.can_run([sys.executable, "-c", _IMPORT], {}):
        return Interpreter(executable=sys.executable, user=user)
    copied = _copy_interpreter(find_servers_dir(data_dir), user)
    if user.can_run([copied.executable, "-c", _IMPORT], copied.environment):
        return copied
    print(f"The programs run as root: the user {user.name} can't run {sys.executable}.", flush=True)
    return ours


def _copy_interpreter(copies: Path, user: ServiceUser) -> Interpreter:
    """Copy Python once, with a virtual environment beside it that links to our packages."""
    base = Path(sys.executable).resolve()
    digest = sha256(f"{base} {base.stat().st_mtime_ns} {sys.version} {sys.prefix}".encode()).hexdigest()[:12]
    target = copies / f"python-{digest}"
    if not target.exists():
        # Renamed only when complete, so that an interrupted copy is never used.
        partial = target.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        _copy_python(base, partial, home=target)
        make_readable(partial)
        partial.rename(target)
    libraries = {"LD_LIBRARY_PATH": str(target / "lib")}
    return Interpreter(executable=str(target / "venv" / "bin" / "python"), user=user, environment=libraries)


def _copy_python(base: Path, target: Path, *, home: Path) -> None:
    """Copy it to `target`, which will be renamed to `home`: paths written into the copy name `home`."""
    standard = Path(sysconfig.get_path("stdlib"))
    packages = Path(sysconfig.get_path("purelib"))
    library = target / "lib"
    shutil.copytree(
        standard, library / standard.name, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT)
    )
    for shared in standard.parent.glob("libpython*.so*"):
        shutil.copy2(shared, library)
    (target / "bin").mkdir()
    shutil.copy2(base, target / "bin" / base.name)
    environment = target / "venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "lib" / standard.name).mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {home / 'bin'}\ninclude-system-site-packages = false\n")
    (environment / "bin" / "python").symlink_to(home / "bin" / base.name)
    (environment / "lib" / standard.name / "site-packages").symlink_to(packages)

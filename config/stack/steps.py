"""One-time steps before serving: migrating the database, collecting static files, seeding the demo shops."""

import hashlib
from pathlib import Path

from config.stack.errors import StackError
from config.stack.processes import PROJECT_DIR, Process
from config.stack.programs import Programs
from config.stack.waiting import Pause

_SECONDS = 300


def collect_static_files(programs: Programs, *, pause: Pause) -> None:
    """Collect the static files, if they have changed. Raises `StackError`.

    The web server lists the files when its code is loaded, so nothing may load it before.
    """
    version = static_version()
    if not _is_done(programs.data.static_version, version):
        _run_and_note(programs.collect_static(), programs.data.static_version, version, pause=pause)


def migrate_database(programs: Programs, *, pause: Pause) -> None:
    """Migrate the database, if it lacks a migration. Raises `StackError`."""
    version = _hash_migrations()
    is_done = _is_done(programs.data.migrated_version, version)
    # The database may have been replaced, so it is asked as well.
    if not (is_done and _succeeds(programs.check_migrated(), pause=pause)):
        _run_and_note(programs.migrate(), programs.data.migrated_version, version, pause=pause)


def _is_done(file: Path, version: str) -> bool:
    return file.exists() and file.read_text() == version


def _run_and_note(step: Process, file: Path, version: str, *, pause: Pause) -> None:
    file.unlink(missing_ok=True)
    run_steps(step, pause=pause)
    # Only now, so that an interrupted run does it again.
    file.write_text(version)


def run_steps(*steps: Process, pause: Pause) -> None:
    """Run programs in parallel until they end. If one fails, kill the others and raise `StackError`."""
    try:
        for step in steps:
            step.start()
        for step in steps:
            if step.wait_until_ended(seconds=_SECONDS, pause=pause):
                raise StackError(f"{step.name} failed.\n{step.log_tail()}")
    finally:
        for step in steps:
            step.kill()


def static_version() -> str:
    """Hash what the collected files depend on: packages, settings, and the project's static folders."""
    return _hash_files("[a-z]*/**/static/**/*")


def _hash_migrations() -> str:
    """Hash what a migrated database depends on: packages, settings, and the project's migrations."""
    return _hash_files("[a-z]*/**/migrations/*.py")


def _hash_files(pattern: str) -> str:
    """Hash the packages and the settings with what tells that a file has changed."""
    digest = hashlib.sha256()
    settings = sorted((PROJECT_DIR / "config" / "settings").glob("*.py"))
    for path in (PROJECT_DIR / "requirements" / "base.txt", *settings):
        digest.update(path.read_bytes())
    for path in sorted(PROJECT_DIR.glob(pattern)):
        status = path.stat()
        digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _succeeds(step: Process, *, pause: Pause) -> bool:
    try:
        run_steps(step, pause=pause)
    except StackError:
        return False
    return True

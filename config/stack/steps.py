"""One-time steps before serving: migrating the database, collecting static files, seeding the demo shops."""

import hashlib

from config.stack.errors import StackError
from config.stack.processes import PROJECT_DIR, Process
from config.stack.programs import Programs
from config.stack.waiting import Pause

_SECONDS = 300


def prepare(programs: Programs, *, pause: Pause) -> None:
    """Migrate the database and collect the static files, where that isn't done yet. Raises `StackError`."""
    done = {
        programs.data.migrated_version: _hash_migrations(),
        programs.data.static_version: static_version(),
    }
    marked = {file for file, version in done.items() if file.exists() and file.read_text() == version}
    # The database may have been replaced, so it is asked as well.
    if programs.data.migrated_version in marked and not _succeeds(programs.check_migrated(), pause=pause):
        marked.remove(programs.data.migrated_version)
    steps = {
        programs.data.migrated_version: programs.migrate(),
        programs.data.static_version: programs.collect_static(),
    }
    missing = steps.keys() - marked
    for file in missing:
        file.unlink(missing_ok=True)
    run_steps(*(steps[file] for file in missing), pause=pause)
    # Only now, so that an interrupted run does them again.
    for file in missing:
        file.write_text(done[file])


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

"""One-time steps before serving: migrating the database, collecting static files, seeding the demo shops."""

import hashlib

from config.stack.errors import StackError
from config.stack.processes import PROJECT_DIR, Process
from config.stack.programs import Programs
from config.stack.waiting import Pause

_SECONDS = 300


def prepare(programs: Programs, *, pause: Pause) -> None:
    """Migrate the database and collect the static files, at the same time. Raises `StackError`."""
    version = static_version()
    steps = [programs.migrate()]
    collected = programs.data.static_version
    if not collected.exists() or collected.read_text() != version:
        steps.append(programs.collect_static())
    run_steps(*steps, pause=pause)
    # Only now, so that an interrupted run collects them again.
    collected.write_text(version)


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
    digest = hashlib.sha256()
    settings = sorted((PROJECT_DIR / "config" / "settings").glob("*.py"))
    for path in (PROJECT_DIR / "requirements" / "base.txt", *settings):
        digest.update(path.read_bytes())
    for path in sorted(PROJECT_DIR.glob("[a-z]*/**/static/**/*")):
        status = path.stat()
        digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()

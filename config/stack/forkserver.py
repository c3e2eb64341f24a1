"""Loads the code of all programs once, and forks them: `python -m config.stack.forkserver`, for config.stack.run only.

What is loaded here is shared by all programs until one of them changes it. Each request on standard input, a socket,
carries a program's log and a socket of its own. The programs are adopted by the process that sent the request.
"""

import ctypes
import gc
import os
import runpy
import socket
import sys
import threading
import time
from collections.abc import Mapping
from importlib import import_module

from commerce.forking import prepare_to_fork
from config.stack.forking import GO, OWN_NAMES, READY, ForkRequest
from config.stack.processes import begin_life, call_prctl

_MODULES = (
    "config.rsgi",
    "granian.cli",
    "config.broker",
    "config.celery",
    # Celery imports these when it starts.
    *("celery.bin.celery", "celery.apps.beat", "celery.apps.worker", "celery.concurrency.prefork"),
    *("celery.app.amqp", "celery.app.control", "celery.app.events", "celery.app.log"),
    *("celery.worker.components", "celery.worker.consumer", "commerce.outbox.listener"),
)
_MAX_REQUEST_BYTES = 1024 * 1024
_ADOPTION_SECONDS = 5
_PR_SET_NAME = 15


def main() -> None:
    control = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    load_programs()
    control.send(READY)
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, _MAX_REQUEST_BYTES, 2)
        if not message:
            return
        request = ForkRequest.decode(message)
        log, channel = descriptors
        if _fork_orphan():
            os.close(log)
            os.close(channel)
            continue
        control.close()
        _become(request, log=log, channel=socket.socket(fileno=channel))
        runpy.run_module(request.module, run_name="__main__", alter_sys=True)
        return


def load_programs() -> None:
    """Import what the programs need, and leave it out of later garbage collections, which would write to it."""
    # Until then, collections would find nothing but take long.
    gc.disable()
    for module in _MODULES:
        import_module(module)
    from config.celery import app

    app.loader.import_default_modules()
    app.finalize()
    # A thread would be missing in the forked processes, along with the locks that it held.
    if (others := threading.active_count() - 1) > 0:
        raise RuntimeError(f"{others} threads were started while the programs were loaded.")
    prepare_to_fork()


def _fork_orphan() -> bool:
    """Fork a process whose parent ends at once, so that it is adopted. Returns False in the new process."""
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        return True
    if os.fork():
        os._exit(0)
    return False


def _become(request: ForkRequest, *, log: int, channel: socket.socket) -> None:
    """Turn this process into the one that was asked for, as if it had been started by `Process`."""
    os.setsid()
    deadline = time.monotonic() + _ADOPTION_SECONDS
    while os.getppid() != request.parent and time.monotonic() < deadline:
        time.sleep(0.001)
    begin_life(request.stop_signal, parent=request.parent, niceness=request.niceness)
    channel.send(str(os.getpid()).encode())
    if channel.recv(len(GO)) != GO:
        os._exit(1)
    channel.close()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(log)
    # Shown by `ps -e`, where the command line is the same for all.
    call_prctl(_PR_SET_NAME, ctypes.create_string_buffer(request.name.encode()))
    sys.argv = [request.module, *request.arguments]
    _set_environment(request.environment)
    gc.enable()


def _set_environment(environment: Mapping[str, str]) -> None:
    """Take over what differs from this process's environment, and the settings that were read from it."""
    from django.conf import settings

    from config.settings.databases import read_databases

    for name in OWN_NAMES:
        os.environ.pop(name, None)
    os.environ.update(environment)
    # They have been made here, once for all.
    os.environ["CELERY_SKIP_CHECKS"] = "1"
    for alias, database in read_databases().items():
        for name in ("OPTIONS", "TRANSACTION_SETTINGS"):
            settings.DATABASES[alias][name] = database[name]


if __name__ == "__main__":
    main()

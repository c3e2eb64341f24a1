"""Waits for the worker to send what the measured shops owe, and pauses it for measurements without emails."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from config.stack.client import ApiClient
from config.stack.errors import StackError
from config.stack.running import RunningStack
from config.stack.waiting import until_deadline

from .shop import Shop

# Longer than the lease of a dispatch, which waits for its end if its worker is lost.
_DRAIN_SECONDS = 420
_POLL_SECONDS = 0.1
_OPEN = ("pending", "processing")


class Worker:
    """The worker of a running stack."""

    def __init__(self, stack: RunningStack, shops: Sequence[Shop]) -> None:
        self._admins = [ApiClient.admin(stack.base_url, shop.handle, shop.admin_key) for shop in shops]
        self._pid_file = stack.data.pid_file("worker")

    def wait_until_idle(self) -> None:
        """Wait until no dispatch of the shops is left. Raises `StackError` if that takes longer than seven minutes."""
        # One after the other is enough, since no more orders are made meanwhile.
        for admin in self._admins:
            for status in _OPEN:
                path = f"outbox_dispatches.json?status={status}&limit=1"
                for _ in until_deadline(_DRAIN_SECONDS, pause=lambda _: time.sleep(_POLL_SECONDS)):
                    if not admin.get(path)["outbox_dispatches"]:
                        break
                else:
                    raise StackError(f"Emails are still waiting after {_DRAIN_SECONDS} s.")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the worker's processes once they are idle, so that none is stopped while it holds locks."""
        self.wait_until_idle()
        group, _, _ = self._pid_file.read_text().partition(" ")
        with paused_group(int(group)):
            yield


@contextmanager
def paused_group(group: int) -> Iterator[None]:
    """Pause a process group. It goes on when the context ends, and also if this process is killed meanwhile."""
    # The guard's input ends with this process, however that ends: the kernel closes it.
    guard = subprocess.Popen(
        ["sh", "-c", f"cat > /dev/null; kill -s CONT -- -{group}"],
        stdin=subprocess.PIPE,
        # Ctrl-C in the terminal must not end the guard.
        start_new_session=True,
    )
    # Leaving the guard's context closes its input and waits for its end.
    with guard:
        os.killpg(group, signal.SIGSTOP)
        yield

"""Sets an option of the listening socket for which the server has no setting."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_FILES = Path("/proc/self/fd")


def drop_silent_clients(seconds: float) -> None:
    """Close connections whose client has read nothing of its answer for that long.

    The server itself would keep them, and their answers, for ever. Connections inherit the option from the listening
    socket.
    """
    # The server doesn't show its socket, so it is looked for among all open files.
    for listening in _find_listening_sockets():
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))


def _find_listening_sockets() -> Iterator[socket.socket]:
    for entry in _FILES.iterdir():
        with suppress(OSError):  # most aren't sockets, and the directory's own descriptor is closed by now
            found = socket.socket(fileno=int(entry.name))
            try:
                is_tcp = (
                    found.family in {socket.AF_INET, socket.AF_INET6} and found.type == socket.SOCK_STREAM
                )
                if is_tcp and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    yield found
            finally:
                found.detach()  # it stays the server's

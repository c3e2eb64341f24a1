import socket
from collections.abc import Collection

from config.stack.errors import StackError

LOOPBACK = "127.0.0.1"


def free_port(*, preferred: int = 0, taken: Collection[int] = ()) -> int:
    """The preferred port if nobody listens there, else any free one that is not among `taken`."""
    if preferred and preferred not in taken and is_free(preferred):
        return preferred
    while True:
        with socket.socket() as probe:
            probe.bind((LOOPBACK, 0))
            port: int = probe.getsockname()[1]
        if port not in taken:
            return port


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # Connections that were closed a moment ago don't keep a server from starting.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def web_port(value: str) -> int:
    """The port asked for; raises `StackError` where it is not a port or somebody listens there."""
    if not value.isdecimal() or not 0 < int(value) < 65536:
        raise StackError(f"PORT must be a number between 1 and 65535, not {value!r}.")
    port = int(value)
    if not is_free(port):
        raise StackError(f"Port {port} is in use. Choose another one, as in: PORT={port + 1} make run")
    return port

import socket
from collections.abc import Collection

from config.stack.errors import StackError

LOOPBACK = "127.0.0.1"


def find_free_port(*, preferred: int = 0, taken: Collection[int] = ()) -> int:
    """Return the preferred port if it is free, else any free port that is not in `taken`."""
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
        # Ignore recently closed connections, as servers do when they bind.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def parse_web_port(value: str) -> int:
    """Parse the value of PORT. Raises `StackError` if it isn't a port number or is in use."""
    if not value.isdecimal() or not 0 < int(value) < 65536:
        raise StackError(f"PORT must be a number between 1 and 65535, not {value!r}.")
    port = int(value)
    if not is_free(port):
        raise StackError(f"Port {port} is in use. Choose another one, for example: PORT={port + 1} make run")
    return port

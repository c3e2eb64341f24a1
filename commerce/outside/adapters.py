"""HTTP connections for `requests` that keep to the current deadline and, where required, to public addresses."""

import socket
from functools import cache
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from .addresses import AddressRefused, connect
from .deadline import cover, current_deadline

CONNECT_TIMEOUT_S = 3


class BoundedAdapter(HTTPAdapter):
    """Mount it on a session: connects by `addresses.connect`, and ends with the deadline of the call.

    The certificate and the Host header are those of the URL's host name.
    """

    def __init__(self, *, allow_private: bool = True) -> None:
        self.allow_private = allow_private
        super().__init__(max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _make_pool_classes(self.allow_private)

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> object:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = _make_pool_classes(self.allow_private)
        return manager


class _Bounded(HTTPConnection):
    reaches_private: bool

    def _new_conn(self) -> socket.socket:
        timeout_s = float(self.timeout) if isinstance(self.timeout, int | float) else CONNECT_TIMEOUT_S
        # `requests` translates errors of urllib3 only. A refused address isn't one: callers catch it by itself.
        try:
            made = connect(
                self.host.strip("[]"), self.port, timeout_s=timeout_s, allow_private=self.reaches_private
            )
        except AddressRefused as error:
            if error.code == "host_not_found":
                raise NewConnectionError(self, str(error)) from error
            raise
        except TimeoutError as error:
            raise ConnectTimeoutError(self, str(error)) from error
        except OSError as error:
            raise NewConnectionError(self, str(error)) from error
        for option in self.socket_options or ():
            made.setsockopt(*option)
        return made

    def putrequest(self, *args: Any, **kwargs: Any) -> None:
        """Put a connection that was kept from an earlier call under the deadline of this one."""
        limit = current_deadline()
        if limit is not None:
            limit.require_time()
            # A new connection has none yet, and is covered when it is made.
            if self.sock is not None:
                cover(self.sock)
        super().putrequest(*args, **kwargs)


# urllib3 makes the connections itself and takes only their class, so the limit is an attribute of a class.
@cache
def _make_pool_classes(allow_private: bool) -> dict[str, type[HTTPConnectionPool]]:
    class Plain(_Bounded):
        reaches_private = allow_private

    class Secure(_Bounded, HTTPSConnection):
        reaches_private = allow_private

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}

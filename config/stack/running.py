"""Finds a running stack through its demo.json, for `demo`, `bench` and `manage`."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from config.stack.data import DataDirectory
from config.stack.environment import build_environment
from config.stack.errors import StackError
from config.stack.memory import Memory
from config.stack.programs import answers
from config.stack.servers import Servers


@dataclass(frozen=True, kw_only=True)
class RunningStack:
    """The data directory of a running stack and the content of its demo.json."""

    data: DataDirectory
    demo: Mapping[str, Any]

    @classmethod
    def find(cls, surroundings: Mapping[str, str]) -> Self:
        """Find the stack of the data directory that the environment names. Raises `StackError` if it isn't running."""
        data = DataDirectory.choose(surroundings)
        try:
            demo = json.loads(data.demo.read_text())
        except FileNotFoundError:
            raise StackError(f"Nothing is running on {data.root}. Start it with: make run") from None
        stack = cls(data=data, demo=demo)
        # A killed stack leaves the file behind.
        if not answers(stack.address, "/healthz"):
            raise StackError(f"Nothing answers at {stack.base_url}. Start it with: make run")
        return stack

    @property
    def base_url(self) -> str:
        return str(self.demo["base_url"])

    @property
    def address(self) -> str:
        """Host and port."""
        return urlsplit(self.base_url).netloc

    @property
    def socket_address(self) -> tuple[str, int]:
        parts = urlsplit(self.base_url)
        return parts.hostname or "", parts.port or 80

    def environment(self) -> dict[str, str]:
        """Build the environment variables that the stack's own processes get."""
        memory = Memory.read(self.data.memory)
        _, web_port = self.socket_address
        servers = Servers.of(self.data, memory)
        return build_environment(servers, web_port=web_port, surroundings=os.environ)

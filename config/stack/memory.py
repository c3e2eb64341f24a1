"""Remembers generated secrets and ports from one run to the next, in the data directory's env.json."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from config.stack.data import write_json
from config.stack.ports import find_free_port


def _make_secret() -> str:
    return secrets.token_hex(24)


@dataclass(frozen=True, kw_only=True)
class Memory:
    secret_key: str = field(default_factory=_make_secret)
    superuser_password: str = field(default_factory=_make_secret)
    owner_password: str = field(default_factory=_make_secret)
    app_password: str = field(default_factory=_make_secret)
    redis_password: str = field(default_factory=_make_secret)
    webhook_secret: str = field(default_factory=_make_secret)
    postgres_port: int
    redis_port: int
    renderer_port: int
    # Whether the values were generated in this run. Not stored.
    is_new: bool = False

    @classmethod
    def read(cls, path: Path) -> Self:
        return cls(**json.loads(path.read_text()))

    def write(self, path: Path) -> None:
        write_json(path, {name: value for name, value in asdict(self).items() if name != "is_new"})


def load_memory(path: Path, *, web_port: int) -> Memory:
    """Read the remembered values, or generate them. Replaces ports that are in use by now, and saves the result."""
    if path.exists():
        memory = Memory.read(path)
        memory = replace(memory, **_choose_ports(asdict(memory), web_port=web_port))
    else:
        memory = Memory(**_choose_ports({}, web_port=web_port), is_new=True)
    memory.write(path)
    return memory


def _choose_ports(preferred: Mapping[str, Any], *, web_port: int) -> dict[str, Any]:
    ports: dict[str, int] = {}
    for name in ("postgres_port", "redis_port", "renderer_port"):
        taken = {web_port, *ports.values()}
        ports[name] = find_free_port(preferred=preferred.get(name, 0), taken=taken)
    return ports

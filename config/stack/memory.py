"""What a data directory keeps from one run to the next: generated secrets, and ports, stable while free."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from config.stack.data import write_json
from config.stack.ports import free_port


def _secret() -> str:
    return secrets.token_hex(24)


@dataclass(frozen=True, kw_only=True)
class Memory:
    secret_key: str = field(default_factory=_secret)
    superuser_password: str = field(default_factory=_secret)
    owner_password: str = field(default_factory=_secret)
    app_password: str = field(default_factory=_secret)
    redis_password: str = field(default_factory=_secret)
    webhook_secret: str = field(default_factory=_secret)
    staff_password: str = field(default_factory=_secret)
    postgres_port: int
    redis_port: int
    renderer_port: int
    # Not remembered: whether there was nothing to remember.
    is_new: bool


def recall(path: Path, *, web_port: int) -> Memory:
    """Read what is remembered, make up what is missing, move ports that others have taken, and keep it all."""
    remembered = json.loads(path.read_text()) if path.exists() else {}
    ports = _free_ports(remembered, web_port=web_port)
    memory = Memory(**(remembered | ports), is_new=not remembered)
    write_json(path, {name: value for name, value in asdict(memory).items() if name != "is_new"})
    return memory


def _free_ports(remembered: Mapping[str, Any], *, web_port: int) -> dict[str, int]:
    ports: dict[str, int] = {}
    for name in ("postgres_port", "redis_port", "renderer_port"):
        taken = {web_port, *ports.values()}
        ports[name] = free_port(preferred=remembered.get(name, 0), taken=taken)
    return ports

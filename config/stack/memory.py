"""What a data directory keeps from one run to the next: generated secrets, and ports, stable while free."""

import json
import secrets
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from .data import write_json
from .ports import free_port


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
    postgres_port: int = 0
    redis_port: int = 0
    renderer_port: int = 0


def recall(path: Path, *, web_port: int) -> Memory:
    """Read what is remembered, make up what is missing, move ports that others have taken, and keep it all."""
    memory = Memory(**json.loads(path.read_text())) if path.exists() else Memory()
    taken = {web_port}
    for name in ("postgres_port", "redis_port", "renderer_port"):
        port = free_port(preferred=getattr(memory, name), taken=taken)
        taken.add(port)
        memory = replace(memory, **{name: port})
    write_json(path, asdict(memory))
    return memory

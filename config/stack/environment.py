"""The environment that the project's processes get; what the surroundings set wins over it."""

from collections.abc import Mapping
from dataclasses import dataclass

from . import roles
from .data import DataDirectory
from .errors import StackError
from .memory import Memory
from .ports import LOOPBACK

DATABASE_NAMES = ("DATABASE_URL", "DATABASE_OWNER_URL")


@dataclass(frozen=True)
class External:
    """Which servers the surroundings bring along, so that no embedded one is started."""

    database: bool
    redis: bool
    renderer: bool


def external_servers(surroundings: Mapping[str, str]) -> External:
    """Raises `StackError` where only one of the two database URLs is set."""
    given = [name for name in DATABASE_NAMES if surroundings.get(name)]
    if len(given) == 1:
        raise StackError(f"Set both of {' and '.join(DATABASE_NAMES)}, or neither; only {given[0]} is set.")
    return External(
        database=bool(given),
        redis=bool(surroundings.get("REDIS_URL")),
        renderer=bool(surroundings.get("RENDERER_URL")),
    )


def process_environment(
    data: DataDirectory, memory: Memory, *, web_port: int, surroundings: Mapping[str, str]
) -> dict[str, str]:
    base_url = f"http://{LOOPBACK}:{web_port}"
    ours = {
        "DEBUG": "false",
        "SECRET_KEY": memory.secret_key,
        "ALLOWED_HOSTS": f"{LOOPBACK},localhost",
        "BASE_URL": base_url,
        "DATABASE_URL": database_url(roles.APP, memory.app_password, port=memory.postgres_port),
        "DATABASE_OWNER_URL": database_url(roles.OWNER, memory.owner_password, port=memory.postgres_port),
        "REDIS_URL": f"redis://:{memory.redis_password}@{LOOPBACK}:{memory.redis_port}/0",
        "RENDERER_URL": f"http://{LOOPBACK}:{memory.renderer_port}",
        "MAIL_DIR": str(data.mail),
        "STATIC_ROOT": str(data.static),
        "COMMERCE_EMAIL_PROVIDER_WEBHOOK_SECRET": memory.webhook_secret,
        "COMMERCE_PAYMENTS_TEST_CARD": "true",
        "COMMERCE_DEMO_STAFF_PASSWORD": memory.staff_password,
        "PYTHONUNBUFFERED": "1",
    }
    given = {name: value for name, value in surroundings.items() if value or name not in ours}
    return ours | given | {"DATA_DIR": str(data.root)}


def database_url(role: str, password: str, *, port: int, database: str = roles.DATABASE) -> str:
    return f"postgres://{role}:{password}@{LOOPBACK}:{port}/{database}"

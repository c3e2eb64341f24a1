"""The environment variables of the project's processes. Values that the caller's environment sets win."""

from collections.abc import Mapping
from dataclasses import dataclass

from config.stack import roles
from config.stack.errors import StackError
from config.stack.ports import LOOPBACK
from config.stack.servers import Servers

_DATABASE_NAMES = ("DATABASE_URL", "DATABASE_OWNER_URL")


@dataclass(frozen=True, kw_only=True)
class External:
    """Which servers the environment provides, so that no embedded ones are started."""

    database: bool
    redis: bool
    renderer: bool


def find_external_servers(surroundings: Mapping[str, str]) -> External:
    """Find out which servers the environment provides. Raises `StackError` if only one database URL is set."""
    given = [name for name in _DATABASE_NAMES if surroundings.get(name)]
    if len(given) == 1:
        raise StackError(f"Set both of {' and '.join(_DATABASE_NAMES)}, or neither; only {given[0]} is set.")
    return External(
        database=bool(given),
        redis=bool(surroundings.get("REDIS_URL")),
        renderer=bool(surroundings.get("RENDERER_URL")),
    )


def build_environment(servers: Servers, *, web_port: int, surroundings: Mapping[str, str]) -> dict[str, str]:
    data, memory, cluster = servers.data, servers.memory, servers.cluster
    ours = {
        "DEBUG": "false",
        "SECRET_KEY": memory.secret_key,
        "ALLOWED_HOSTS": f"{LOOPBACK},localhost",
        "BASE_URL": f"http://{LOOPBACK}:{web_port}",
        "DATABASE_URL": cluster.url(roles.APP, memory.app_password, database=roles.DATABASE),
        "DATABASE_OWNER_URL": cluster.url(roles.OWNER, memory.owner_password, database=roles.DATABASE),
        "REDIS_URL": servers.redis.url(),
        "RENDERER_URL": f"http://{LOOPBACK}:{memory.renderer_port}",
        "MAIL_DIR": str(data.mail),
        "STATIC_ROOT": str(data.static),
        "DEMO_SEED": str(data.seed),
        "METRICS_DIR": str(data.metrics),
        "COMMERCE_EMAIL_PROVIDER_WEBHOOK_SECRET": memory.webhook_secret,
        # Mail goes to a folder, and the demo shops send from example domains without DNS records.
        "EMAIL_TRUST_SENDER_DOMAINS": "true",
        "EMAIL_WEBHOOK_ALLOW_UNSIGNED": "true",
        "COMMERCE_PAYMENTS_TEST_CARD": "true",
        "PYTHONUNBUFFERED": "1",
    }
    # An empty variable counts as unset for names that have a default here.
    given = {name: value for name, value in surroundings.items() if value or name not in ours}
    # Resolved: programs have another working directory than the shell that named it.
    return ours | given | {"DATA_DIR": str(data.root)}

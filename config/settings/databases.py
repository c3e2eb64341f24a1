"""PostgreSQL, by two roles, and Redis."""

from django.core.exceptions import ImproperlyConfigured

from .environment import env

# Whether a pooler in transaction mode, such as PgBouncer's, is between us and PostgreSQL. Nothing may then depend on
# what an earlier transaction left on a connection.
IS_BEHIND_POOLER = env.bool("DATABASE_BEHIND_POOLER", default=False)


def _read_database(name: str, *, pool_size: int, is_behind_pooler: bool = False) -> dict[str, object]:
    config = env.db_url(name)
    if config["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured(f"{name} must be a postgres:// URL.")
    options = config.setdefault("OPTIONS", {})
    # Prepared statements: planning costs more than running the short queries of a request.
    options |= {"server_side_binding": True, "prepare_threshold": None if is_behind_pooler else 2}
    # A server that vanished silently is noticed within half a minute, and by a new connection within 5 s.
    options |= {"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    # In milliseconds. Keepalives alone aren't enough: none are sent while data waits to be acknowledged.
    options |= {"tcp_user_timeout": 25_000}
    timeouts = {name: f"{seconds}s" for name, seconds in _read_timeouts().items() if seconds is not None}
    if timeouts and not is_behind_pooler:
        given = [f"-c {name}={value}" for name, value in timeouts.items()]
        options["options"] = " ".join([*filter(None, [options.get("options")]), *given])
    if pool_size:
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 10}
    return config | {
        "ENGINE": "commerce.tenancy.postgresql",
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": True,
        "TRANSACTION_SETTINGS": _set_in_transaction(timeouts) if is_behind_pooler else [],
    }


def _set_in_transaction(timeouts: dict[str, str]) -> list[str]:
    """The statements that set the time-outs of a transaction, since a pooler gives connections to several processes."""
    # PostgreSQL starts the clock of a transaction at BEGIN with the role's limit. A new limit counts only after 0.
    stopped = ["SET LOCAL transaction_timeout = 0"] if "transaction_timeout" in timeouts else []
    return stopped + [f"SET LOCAL {name} = '{value}'" for name, value in timeouts.items()]


def _read_timeouts() -> dict[str, int | None]:
    """In seconds; 0 means no limit. Unset, the database role's own limit applies (config/stack/roles.py)."""
    return {
        "statement_timeout": env.int("DATABASE_STATEMENT_TIMEOUT_S", default=None),
        "transaction_timeout": env.int("DATABASE_TRANSACTION_TIMEOUT_S", default=None),
        "lock_timeout": env.int("DATABASE_LOCK_TIMEOUT_S", default=None),
        "idle_in_transaction_session_timeout": env.int("DATABASE_IDLE_TIMEOUT_S", default=None),
    }


def read_databases() -> dict[str, dict[str, object]]:
    """Read the databases from the environment, which a forked program may have changed (config/stack/forkserver.py)."""
    # The serving role owns nothing and can't bypass row-level security; the owner's connection only migrates.
    pool_size = env.int("DATABASE_POOL_SIZE", default=16)
    return {
        "default": _read_database("DATABASE_URL", pool_size=pool_size, is_behind_pooler=IS_BEHIND_POOLER),
        "owner": _read_database("DATABASE_OWNER_URL", pool_size=0) | {"TEST": {"MIRROR": "default"}},
    }


DATABASES = read_databases()
# Where the worker listens for notifications, if that differs from DATABASE_URL: they belong to a session.
DATABASE_LISTEN = (
    _read_database("DATABASE_LISTEN_URL", pool_size=0) if env.str("DATABASE_LISTEN_URL", default="") else {}
)
DATABASE_ROUTERS = ["commerce.tenancy.roles.OwnerMigrates"]

REDIS_URL = env.str("REDIS_URL")

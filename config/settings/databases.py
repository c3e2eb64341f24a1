"""PostgreSQL, by two roles, and Redis."""

from django.core.exceptions import ImproperlyConfigured

from .environment import env


def _read_database(name: str, *, pool_size: int) -> dict[str, object]:
    config = env.db_url(name)
    if config["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured(f"{name} must be a postgres:// URL.")
    options = config.setdefault("OPTIONS", {})
    # Prepared statements: planning costs more than running the short queries of a request.
    options |= {"server_side_binding": True, "prepare_threshold": 2}
    # A server that vanished silently is noticed within half a minute, and by a new connection within 5 s.
    options |= {"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    # In milliseconds. Keepalives alone aren't enough: none are sent while data waits to be acknowledged.
    options |= {"tcp_user_timeout": 25_000}
    timeouts = [f"-c {name}={seconds}s" for name, seconds in _read_timeouts().items() if seconds is not None]
    if timeouts:
        options["options"] = " ".join([*filter(None, [options.get("options")]), *timeouts])
    if pool_size:
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 10}
    return config | {
        "ENGINE": "commerce.tenancy.postgresql",
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": True,
    }


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
    return {
        "default": _read_database("DATABASE_URL", pool_size=env.int("DATABASE_POOL_SIZE", default=16)),
        "owner": _read_database("DATABASE_OWNER_URL", pool_size=0) | {"TEST": {"MIRROR": "default"}},
    }


DATABASES = read_databases()
DATABASE_ROUTERS = ["commerce.tenancy.roles.OwnerMigrates"]

REDIS_URL = env.str("REDIS_URL")

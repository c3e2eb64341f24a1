"""Checks at startup: the proxy settings, the places for outside calls, and the database role's time-outs."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.db import connections

_TIMEOUTS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")


# Only for `manage.py check --deploy`: on a developer's machine there is no proxy. config/rsgi.py calls it too.
@checks.register(checks.Tags.security, deploy=True)
def check_proxy(app_configs: Any = None, **kwargs: Any) -> list[checks.CheckMessage]:
    messages: list[checks.CheckMessage] = []
    if settings.IS_HTTPS and not settings.BEHIND_TLS_PROXY:
        messages.append(
            checks.Warning(
                "BASE_URL is https, which only a proxy in front can serve, but BEHIND_TLS_PROXY is off: every request "
                "looks like one from the proxy and without TLS.",
                hint="Set BEHIND_TLS_PROXY=true where the proxy sets X-Forwarded-Proto and X-Forwarded-For.",
                id="front.W001",
            )
        )
    host = urlsplit(settings.BASE_URL).hostname or ""
    # As Django compares: a leading dot stands for all subdomains.
    is_served = any(
        allowed in {"*", host} or (allowed.startswith(".") and host.endswith(allowed))
        for allowed in settings.ALLOWED_HOSTS
    )
    if not is_served:
        messages.append(
            checks.Warning(
                f"ALLOWED_HOSTS does not name {host}, the host of BASE_URL.",
                hint="The proxy must pass the Host header on, and ALLOWED_HOSTS must name it.",
                id="front.W002",
            )
        )
    return messages


@checks.register()
def check_places(app_configs: Any = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Check that each kind of outside call has a place, and each thread of a web process can get a connection."""
    messages: list[checks.CheckMessage] = []
    for kind, places in settings.WEB_CALLS.items():
        if places < 1:
            name = f"{kind.upper()}_CALLS_AT_ONCE"
            messages.append(
                checks.Error(f"{name} is {places}: all such requests would be refused.", id="front.E001")
            )
    options: dict[str, Any] = settings.DATABASES["default"].get("OPTIONS", {})  # type: ignore[assignment]
    pool = options.get("pool")
    threads = settings.WEB_THREADS + sum(settings.WEB_CALLS.values())
    if pool and threads > pool["max_size"]:
        messages.append(
            checks.Warning(
                f"A web process has {threads} threads (WEB_THREADS and all ..._CALLS_AT_ONCE), but only "
                f"{pool['max_size']} database connections.",
                hint="Raise DATABASE_POOL_SIZE.",
                id="front.W004",
            )
        )
    return messages


@checks.register(checks.Tags.database)
def check_timeouts(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Check the time-outs of the role itself, whatever this process has set for its connections."""
    if "default" not in (databases or ()):
        return []
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT rolconfig FROM pg_roles WHERE rolname = current_user")
        configured = {entry.partition("=")[0] for entry in cursor.fetchone()[0] or ()}
    return [
        checks.Warning(
            f"The serving database role has no {name}: a request may hold its locks for ever.",
            hint="Run the script of the roles again: python -m config.stack roles",
            id="front.W003",
        )
        for name in _TIMEOUTS
        if name not in configured
    ]

"""Sends what is logged as an error to Sentry: its type and place, with ids, and without personal data."""

import logging
import os
from functools import cache
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from commerce.rest.logs import find_ids, remove_values

_FLUSH_S = 2.0


class SentryHandler(logging.Handler):
    """Imports Sentry's library with the first error, since threads don't survive the fork of the programs."""

    def emit(self, record: logging.LogRecord) -> None:
        # The libraries that send traces and errors log their own failures, which must not be sent again.
        if record.name.startswith(("sentry_sdk", "urllib3", "opentelemetry")):
            return
        try:
            _send(record)
        except Exception:  # noqa: BLE001  as of every handler: an error of logging must not stop what was logged
            self.handleError(record)


def _send(record: logging.LogRecord) -> None:
    _start(os.getpid())
    import sentry_sdk

    with sentry_sdk.new_scope() as scope:
        for name, value in find_ids().items():
            scope.set_tag(name, str(value))
        scope.set_tag("logger", record.name)
        scope.set_level("fatal" if record.levelno >= logging.CRITICAL else "error")
        if record.exc_info and record.exc_info[1] is not None:
            sentry_sdk.capture_exception(record.exc_info[1], scope=scope)
        else:
            # Without its arguments, so that equal errors are one issue.
            sentry_sdk.capture_message(remove_values(str(record.msg)), scope=scope)


@cache
def _start(_pid: int) -> None:
    try:
        import sentry_sdk
        from sentry_sdk.integrations.atexit import AtexitIntegration
    except ImportError:
        raise ImproperlyConfigured("SENTRY_DSN needs requirements/telemetry.txt.") from None
    sentry_sdk.init(
        settings.SENTRY_DSN,
        default_integrations=False,
        auto_enabling_integrations=False,
        # Sends what is waiting when the process ends, without a message on standard error.
        integrations=[AtexitIntegration(callback=lambda pending, timeout: None)],
        include_local_variables=False,
        send_default_pii=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        server_name="",
        shutdown_timeout=_FLUSH_S,
        before_send=cast("Any", _remove_personal_data),
    )


def _remove_personal_data(event: dict[str, Any], hint: dict[str, Any]) -> dict[str, Any]:
    for part in (event.get("exception") or {}).get("values") or []:
        part["value"] = remove_values(part.get("value") or "")
    for name in ("user", "request", "extra", "breadcrumbs", "modules", "logentry"):
        event.pop(name, None)
    return event

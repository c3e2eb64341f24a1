from importlib.util import find_spec

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured
from django.db.backends.signals import connection_created

from commerce.tracing import record_with


class TelemetryConfig(AppConfig):
    """Installed only if OTEL_EXPORTER_OTLP_ENDPOINT is set."""

    name = "config.telemetry"

    def ready(self) -> None:
        if find_spec("opentelemetry") is None:
            raise ImproperlyConfigured("OTEL_EXPORTER_OTLP_ENDPOINT needs requirements/telemetry.txt.")
        from config.telemetry.statements import watch_statements
        from config.telemetry.traces import record

        record_with(record)
        connection_created.connect(watch_statements)

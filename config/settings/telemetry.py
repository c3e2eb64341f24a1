"""Where traces and errors are sent, if anywhere. Both need requirements/telemetry.txt."""

from .environment import env
from .installation import LOGGING
from .product import INSTALLED_APPS, MIDDLEWARE

# As OpenTelemetry names it: the base address of a collector that takes OTLP over HTTP.
OTEL_EXPORTER_OTLP_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="").rstrip("/")
SENTRY_DSN = env.str("SENTRY_DSN", default="").strip()

if OTEL_EXPORTER_OTLP_ENDPOINT:
    INSTALLED_APPS.append("config.telemetry")
    # Inside RequestIdMiddleware, whose id the span gets.
    MIDDLEWARE.insert(2, "config.telemetry.middleware.Traces")

if SENTRY_DSN:
    LOGGING["handlers"]["sentry"] = {"class": "config.telemetry.errors.SentryHandler", "level": "ERROR"}
    LOGGING["root"]["handlers"].append("sentry")

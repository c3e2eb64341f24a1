"""Sends spans by OTLP over HTTP. They carry ids, never personal data or values of statements."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from django.conf import settings
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

ACCOUNT = "commerce.account_id"

# The span of the request or dispatch that this thread works on.
_outer: ContextVar[Span | None] = ContextVar("outer_span", default=None)


def get_tracer() -> Tracer:
    # Its thread doesn't survive a fork, and all programs are forked.
    return _make_tracer(os.getpid())


@cache
def _make_tracer(_pid: int) -> Tracer:
    # The library itself reads OTEL_RESOURCE_ATTRIBUTES, OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER and others.
    name = os.environ.get("OTEL_SERVICE_NAME") or "commerce"
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    endpoint = f"{settings.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces"
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    return provider.get_tracer("commerce")


@contextmanager
def record(name: str, attributes: Mapping[str, object]) -> Iterator[None]:
    """Record a span for `commerce.tracing`."""
    with open_span(name, kind=SpanKind.CONSUMER) as span:
        for key, value in attributes.items():
            if value is not None:
                span.set_attribute(f"commerce.{key}", str(value))
        yield


@contextmanager
def open_span(name: str, *, kind: SpanKind) -> Iterator[Span]:
    """Begin a trace with this span. The statements that are sent inside become its children."""
    # An empty context, as the task that runs a dispatch has a trace of its own. Errors are noted by their type, without
    # their texts, which may contain personal data.
    with get_tracer().start_as_current_span(
        name, context=Context(), kind=kind, record_exception=False, set_status_on_exception=False
    ) as span:
        token = _outer.set(span)
        try:
            yield span
        except BaseException as error:
            note_error(span, type(error).__qualname__)
            raise
        finally:
            _outer.reset(token)


def note_error(span: Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))


def find_outer_span() -> Span | None:
    """The span of the request or dispatch that this thread works on."""
    return _outer.get()

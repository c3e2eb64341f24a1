"""Traces and errors reach a collector with ids and without personal data; without settings nothing is imported."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from django.conf import settings
from pytest_httpserver import HTTPServer

from tests import factories
from tests.storefront import ADDRESS, EMAIL

pytest.importorskip("opentelemetry.sdk", reason="requirements/telemetry.txt isn't installed")
pytest.importorskip("sentry_sdk", reason="requirements/telemetry.txt isn't installed")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

from config.telemetry.statements import summarise

MARKS = (EMAIL, ADDRESS["last_name"], ADDRESS["address1"], ADDRESS["phone"])

# What a web process and a worker do, in one process.
WORK = """
import json, logging, os, django
django.setup()
import config.celery
from functools import partial
from commerce.outbox import runs, tasks, worker
from commerce.outbox.handlers import Single
from commerce.tenancy.scope import account_scope
from django.db import connection
from django.test import Client

marks = json.loads(os.environ["MARKS"])
headers = {"Authorization": "Bearer " + os.environ["ADMIN_KEY"], "X-Request-Id": "traced-1"}
root = f"/admin/2026-01/{os.environ['HANDLE']}"
client = Client(headers=headers)
body = {"email": marks[0], "first_name": marks[1], "last_name": marks[2]}
idempotency = {"Idempotency-Key": "a-key-of-sixteen"}
answer = client.post(f"{root}/customers.json", body, content_type="application/json", headers=idempotency)
assert answer.status_code == 201, answer.content
client.get(f"{root}/customers.json", {"email": marks[0]})

def fail(dispatch):
    raise ValueError(f"550 <{marks[0]}> {marks[1]!r} unknown")

runs.find_batch_maker = lambda _: partial(Single, fail)
tasks.drain.apply(throw=True)
worker.finish_running()
with account_scope(int(os.environ["ACCOUNT_ID"])):
    try:
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO customers SELECT * FROM customers WHERE email = %s", [marks[0]])
    except Exception:
        logging.getLogger("example").exception("It failed for %s", marks[0])
"""
# Other libraries import OpenTelemetry if it is installed. Without the requirements, it isn't.
UNINSTALLED = """
import sys

class Uninstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"opentelemetry", "sentry_sdk"}:
            raise ImportError(name)

sys.meta_path.insert(0, Uninstalled())
import django
django.setup()
import config.rsgi, config.celery
from django.test import Client
assert Client().get("/nowhere").status_code == 404
print([name for name in sys.modules if name.startswith("config.telemetry")])
"""


@pytest.fixture
def work(shop) -> Callable[..., None]:
    """Run `WORK` with these variables of the environment."""
    # Its last attempt, so that its failure is an error.
    factories.make_dispatch(shop, task_name="send_email", attempts=5, request_id="traced-0")

    def run(**environment: str) -> None:
        done = run_script(
            WORK,
            MARKS=json.dumps(MARKS),
            ADMIN_KEY=shop.issue("admin"),
            HANDLE=shop.handle,
            ACCOUNT_ID=str(shop.id),
            **environment,
        )
        assert done.returncode == 0, done.stderr

    return run


def run_script(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "NO_PROXY": "127.0.0.1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def decode(request) -> bytes:
    data = request.get_data()
    return gzip.decompress(data) if request.headers.get("Content-Encoding") == "gzip" else data


@pytest.mark.django_db(transaction=True)
def test_spans_of_requests_dispatches_and_statements_reach_the_collector(shop, work, httpserver: HTTPServer):
    httpserver.expect_request("/v1/traces").respond_with_data(b"")

    work(OTEL_EXPORTER_OTLP_ENDPOINT=httpserver.url_for(""))

    bodies = [decode(request) for request, _ in httpserver.log]
    assert [mark for mark in MARKS for body in bodies if mark.encode() in body] == []
    spans = [
        span
        for body in bodies
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    attributes = {
        span.span_id: {pair.key: pair.value.string_value or pair.value.int_value for pair in span.attributes}
        for span in spans
    }
    [created] = [span for span in spans if span.name == "POST admin/2026-01/<handle:handle>/customers.json"]
    assert attributes[created.span_id] == {
        "http.request.method": "POST",
        "http.route": "admin/2026-01/<handle:handle>/customers.json",
        "http.response.status_code": 201,
        "commerce.request_id": "traced-1",
        "commerce.account_id": str(shop.id),
    }
    statements = [span for span in spans if span.parent_span_id == created.span_id]
    assert {span.name for span in statements} >= {"INSERT customers"}
    assert {attributes[span.span_id]["db.system.name"] for span in statements} == {"postgresql"}
    [dispatch] = [span for span in spans if span.name == "dispatch send_email"]
    assert attributes[dispatch.span_id]["commerce.account_id"] == str(shop.id)
    assert attributes[dispatch.span_id]["commerce.request_id"] == "traced-0"
    assert not dispatch.parent_span_id
    [task] = [span for span in spans if span.name == "task commerce.outbox.tasks.drain"]
    within = {span.name for span in spans if span.parent_span_id == task.span_id}
    assert "SELECT claim_outbox_turns" in within
    [resource] = {
        pair.value.string_value
        for body in bodies
        for part in ExportTraceServiceRequest.FromString(body).resource_spans
        for pair in part.resource.attributes
        if pair.key == "service.name"
    }
    assert resource == "commerce"


@pytest.mark.django_db(transaction=True)
def test_errors_reach_sentry_with_their_ids(shop, work, httpserver: HTTPServer):
    httpserver.expect_request("/api/1/envelope/").respond_with_json({})

    work(SENTRY_DSN=httpserver.url_for("/1").replace("http://", "http://key@"))

    envelopes = [decode(request).decode() for request, _ in httpserver.log]
    assert [mark for mark in MARKS for envelope in envelopes if mark in envelope] == []
    events = [
        json.loads(line) for envelope in envelopes for line in envelope.splitlines() if '"exception"' in line
    ]
    failures = {event["exception"]["values"][-1]["type"]: event for event in events}
    assert set(failures) == {"ValueError", "IntegrityError"}
    assert failures["ValueError"]["tags"] == {
        "request_id": "traced-0",
        "account_id": str(shop.id),
        "dispatch_id": failures["ValueError"]["tags"]["dispatch_id"],
        "task": "send_email",
        "logger": "commerce.outbox.runs",
    }
    assert failures["ValueError"]["exception"]["values"][-1]["value"] == '550 <***> "***" unknown'
    for event in events:
        assert {"user", "request", "extra", "breadcrumbs"}.isdisjoint(event)
        frames = [frame for value in event["exception"]["values"] for frame in value["stacktrace"]["frames"]]
        assert not any("vars" in frame for frame in frames)


def test_nothing_is_imported_without_settings():
    done = run_script(UNINSTALLED)

    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(
    ("sql", "summary"),
    [
        ('SELECT "carts"."id" FROM "carts" WHERE "carts"."token" = %s', "SELECT carts"),
        ("INSERT INTO cart_line_items (a) VALUES (%s)", "INSERT cart_line_items"),
        ("WITH held AS (UPDATE vouchers SET a = 1 RETURNING *) SELECT 1 FROM held", "UPDATE vouchers"),
        ("DELETE FROM sessions", "DELETE sessions"),
        ("SET LOCAL commerce.account_id = '5'", "SET"),
        ("", "SQL"),
    ],
)
def test_statement_is_named_by_what_it_does_and_to_which_table(sql, summary):
    assert summarise(sql) == summary


def test_programs_are_loaded_without_threads(db):
    """The fork server raises an error otherwise: a forked process would lack them."""
    done = run_script(
        "from config.stack.forkserver import load_programs; load_programs()",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
        SENTRY_DSN="http://key@127.0.0.1:9/1",
    )

    assert done.returncode == 0, done.stderr

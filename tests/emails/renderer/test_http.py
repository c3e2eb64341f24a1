import json
import os
import signal
import socket
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from tests.emails.renderer.conftest import MJML

JSON = {"Content-Type": "application/json"}
PROBLEM = "application/problem+json"


def test_healthz_answers(renderer_url):
    response = requests.get(f"{renderer_url}/healthz", timeout=60)

    assert response.status_code == 200
    assert response.json() == {"status": "ok"}


def test_unknown_path_is_not_found(renderer_url):
    response = requests.get(f"{renderer_url}/nowhere", timeout=60)

    assert response.status_code == 404
    assert response.headers["Content-Type"] == PROBLEM
    assert response.json() == {
        "type": "urn:problem:not_found",
        "title": "Not found",
        "status": 404,
        "detail": "Not found",
        "code": "not_found",
    }


@pytest.mark.parametrize(
    ("method", "path", "allowed"), [("GET", "/render", "POST"), ("POST", "/healthz", "GET")]
)
def test_other_method_is_not_allowed(renderer_url, method, path, allowed):
    response = requests.request(method, f"{renderer_url}{path}", timeout=60)

    assert response.status_code == 405
    assert response.headers["Allow"] == allowed
    assert response.json()["code"] == "method_not_allowed"


def test_malformed_json_is_refused_with_its_line(renderer_url):
    response = requests.post(f"{renderer_url}/render", data=b'{\n"ctx": }', headers=JSON, timeout=60)

    assert response.status_code == 400
    assert response.json()["code"] == "malformed_request"
    assert response.json()["line"] == 2


@pytest.mark.parametrize("body", [b"", b"[]", b'"text"', b"\xff", b"[" * 200_000, b'{"ctx": NaN}'])
def test_body_that_is_not_a_json_object_is_malformed(renderer_url, body):
    response = requests.post(f"{renderer_url}/render", data=body, headers=JSON, timeout=60)

    assert response.status_code == 400
    assert response.json()["code"] == "malformed_request"


def test_other_content_type_is_refused(renderer_url):
    response = requests.post(f"{renderer_url}/render", data={"body_source": "x"}, timeout=60)

    assert response.status_code == 415
    assert response.json()["code"] == "unsupported_media_type"


def test_content_type_may_name_its_charset(renderer_url):
    headers = {"Content-Type": "application/json; charset=utf-8"}

    response = requests.post(f"{renderer_url}/render", data=b"{}", headers=headers, timeout=60)

    assert response.status_code == 422


def test_body_of_256_kib_is_read(post):
    message = post(ctx={"padding": "x" * 261_000})

    assert message.status_code == 200


@pytest.mark.parametrize("size", [256 * 1024 + 1, 5_000_000])
def test_body_past_256_kib_is_too_large(renderer_url, size):
    response = requests.post(f"{renderer_url}/render", data=b"x" * size, headers=JSON, timeout=60)

    assert response.status_code == 413
    assert response.json()["code"] == "body_too_large"


def test_chunked_body_past_256_kib_is_too_large(renderer_url):
    chunks = (b"x" * 65_536 for _ in range(10))

    response = requests.post(f"{renderer_url}/render", data=chunks, headers=JSON, timeout=60)

    assert response.status_code == 413


@contextmanager
def stopped(service):
    """Stop the workers for a while, so that requests wait for one."""
    children = Path(f"/proc/{service.process_id}/task/{service.process_id}/children")
    workers = [int(pid) for pid in children.read_text().split()]
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in workers:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Finds the workers in /proc.")
@pytest.mark.parametrize(("hangs_up", "status"), [(True, b"503"), (False, b"200")])
def test_message_whose_caller_has_gone_is_not_rendered(renderer_service, hangs_up, status):
    message = {"source_format": "mjml", "body_source": MJML.format("Hello"), "subject_template": "s"}
    body = json.dumps(message).encode()
    head = f"POST /render HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    place = urlsplit(renderer_service.url)
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        with stopped(renderer_service):
            connection.sendall(head.encode() + body)
            if hangs_up:
                connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile("rb").readline()

    assert answer.split()[1] == status

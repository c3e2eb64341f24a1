"""A bug of the renderer is answered, and logged without the data of the email."""

import io
import json
import logging

import pytest

from emails.renderer import wsgi


@pytest.fixture
def failing(monkeypatch):
    def fail(body):
        raise ValueError(f"can't read {body}")

    monkeypatch.setattr(wsgi, "parse_message", fail)


def test_unhandled_error_is_logged_without_what_was_rendered(failing, caplog):
    body = json.dumps({"to": "ada@example.com"}).encode()
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/render",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
    }
    statuses = []

    with caplog.at_level(logging.ERROR):
        answer = b"".join(wsgi.application(environ, lambda status, headers: statuses.append(status)))

    assert statuses == ["500 Internal Server Error"]
    assert json.loads(answer)["code"] == "internal_error"
    assert "Unhandled ValueError" in caplog.text
    assert "parse_message" in caplog.text
    assert "ada@example.com" not in caplog.text + answer.decode()

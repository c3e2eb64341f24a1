import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from emails import renderer_client
from tests.emails.renderer import patient_conf

MJML = "<mjml><mj-body><mj-section><mj-column><mj-text>{}</mj-text></mj-column></mj-section></mj-body></mjml>"

# Longer than the service itself allows.
PATIENCE_S = patient_conf.timeout + 30

Post = Callable[..., requests.Response]


@dataclass(frozen=True)
class Service:
    url: str
    process_id: int


@pytest.fixture(scope="session")
def renderer_service() -> Iterator[Service]:
    """The service as in production, but without limits that a busy machine could exceed."""
    patience = pytest.MonkeyPatch()
    patience.setattr(renderer_client, "TOTAL_TIMEOUT_S", patient_conf.timeout)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "emails.renderer.wsgi:application"),
                *("-c", "python:tests.emails.renderer.patient_conf", "--bind", f"fd://{listener.fileno()}"),
            ],
            pass_fds=[listener.fileno()],
        )
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            _wait_until_healthy(url)
            yield Service(url, process.pid)
        finally:
            process.terminate()
            process.wait(timeout=60)
            patience.undo()


@pytest.fixture(scope="session")
def renderer_url(renderer_service: Service) -> str:
    return renderer_service.url


def _wait_until_healthy(url: str) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        try:
            if requests.get(f"{url}/healthz", timeout=5).ok:
                return
        except requests.RequestException:
            time.sleep(0.1)
    pytest.fail("The renderer did not become healthy within 90 seconds.")


@pytest.fixture
def post(renderer_url: str) -> Post:
    """Send a message that renders, with the fields that a test overrides; one given as `...` is left out."""

    def send(*, headers: dict[str, str] | None = None, **fields: Any) -> requests.Response:
        message = {
            "source_format": "mjml",
            "body_source": MJML.format("Hello"),
            "subject_template": "Subject",
            "ctx": {},
            "preheader_template": None,
            "body_text_template": None,
            "locale": "en",
            **fields,
        }
        sent = {name: value for name, value in message.items() if value is not ...}
        return requests.post(f"{renderer_url}/render", json=sent, headers=headers, timeout=PATIENCE_S)

    return send

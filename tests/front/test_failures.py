"""Responses if the application fails, or Django fails before it can catch its own errors."""

import json
import time

import pytest

from config.stack.waiting import until_deadline
from tests.clients import STOREFRONT_ROOT
from tests.front.served import LARGE, SILENCE_S
from tests.front.wire import Wire, ask


@pytest.fixture(scope="session")
def failing(serve, tmp_path_factory):
    """Start an application that raises; yield its port and the server's log."""
    log = tmp_path_factory.mktemp("failing") / "log"
    return serve("failing", log=log), log


@pytest.fixture(scope="session")
def product(serve):
    return serve("django")


@pytest.mark.parametrize("place", ["raise", "iterate", "close"])
def test_error_of_the_application_is_a_problem_and_logged(failing, place):
    port, log = failing

    answer = ask(port, f"GET /{place}", f"X-Request-Id: of-{place}")

    if place != "close":
        assert answer.status == 500
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["x-request-id"] == f"of-{place}"
        assert answer.json() == {
            "type": "urn:problem:internal_error",
            "title": "Internal error",
            "status": 500,
            "detail": "Internal error",
            "code": "internal_error",
            "request_id": f"of-{place}",
        }
        assert answer.announces_close
    else:  # what was sent by then stays
        assert (answer.status, answer.body) == (200, b"whole")
    assert f"Broken in {place}" in _entry_of(log, f"of-{place}")["traceback"]


def _entry_of(log, request_id):
    """Return the log entry of a request, which may come later than its response."""
    for _ in until_deadline(30):
        entries = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
        if found := [entry for entry in entries if entry["request_id"] == request_id]:
            return found[0]
    pytest.fail("It was not logged.")


def test_server_serves_on_after_an_error(failing):
    port, _ = failing
    for _ in range(5):
        assert ask(port, "GET /raise").status == 500

    assert ask(port, "GET /close").body == b"whole"


def test_client_that_takes_nothing_of_its_answer_loses_its_connection(failing):
    port, _ = failing
    with Wire(port) as wire:
        wire.send("GET /large")
        time.sleep(3 * SILENCE_S)

        assert len(wire.rest()) < LARGE


def test_client_that_hangs_up_in_the_middle_holds_no_thread(failing):
    """The server has only one thread."""
    port, _ = failing
    for _ in range(5):
        with Wire(port) as wire:
            wire.send("GET /large")

    assert ask(port, "GET /close").body == b"whole"


@pytest.mark.parametrize(
    "headers",
    [
        "Content-Type: application/json; charset=utf-8",
        "Content-Type: application/json; charset=zlib",
        "Content-Type: application/json; charset=undefined",
        "Content-Type: application/json; charset*=idna''%41",
        "Content-Type: application/json; x*=nonsense''1",
        "Content-Type: application/json; x*0*=utf-8''a; x*=y",
        "Content-Type: application/json; x*" + "9" * 5_000 + "=1",
        "Accept: text/html; x*=nonsense''1, */*",
        "Accept: */*; x*0*=utf-8''a; x*=y",
    ],
)
@pytest.mark.parametrize("query", ["a=1&" * 1_000, "a=%41&b=%FF"])
@pytest.mark.django_db(transaction=True)
def test_no_media_type_breaks_a_request(product, shop, headers, query):
    key = f"X-Storefront-Key: {shop.issue('storefront')}"

    answer = ask(product, f"GET {STOREFRONT_ROOT}markets.json?{query}", key, headers)

    if query.startswith("a=1"):
        assert (answer.status, answer.json()["code"]) == (400, "malformed_request")
    else:
        assert (answer.status, answer.headers["x-unknown-fields"]) == (200, "a, b")


def test_form_whose_parts_make_no_sense_is_refused(product):
    body = b"--x\r\nContent-Disposition: form-data; name=a; x*0*=utf-8''a; x*=y\r\n\r\n1\r\n--x--\r\n"

    answer = ask(
        product,
        "POST /backoffice/login/",
        "Content-Type: multipart/form-data; boundary=x",
        "Cookie: csrftoken=" + "a" * 32,
        body=body,
    )

    assert answer.status == 400


@pytest.mark.parametrize(
    ("line", "header", "status"),
    [
        ("GET", "Authorization: Basic " + "x" * 500, 200),
        ("GET", "Authorization: Bearer \xff", 200),
        ("OPTIONS", "X-Storefront-Key: pk_" + "0" * 32, 405),
        ("POST", "Authorization: Basic eA==", 405),
    ],
)
def test_page_of_the_documentation_takes_any_header(product, line, header, status):
    assert ask(product, f"{line} /docs/", header).status == status

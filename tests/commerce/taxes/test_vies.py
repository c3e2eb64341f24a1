"""The VIES client: which responses are an answer about a number, and which aren't."""

import json
import socket
import threading
import time

import pytest

from commerce.taxes import vies as client
from commerce.taxes.vat import VatNumber
from commerce.taxes.vies import Reply, ViesUnavailable, check
from tests.vies import FAILURES

NUMBER = VatNumber("DE", "136695976")


def reply(vies, **document):
    vies.reply = 200, json.dumps(document).encode()


def test_valid_number_has_a_name(vies):
    assert check(NUMBER, url=vies.url) == Reply(is_valid=True, name="Hut & Söhne GmbH")


def test_invalid_number(vies):
    assert check(VatNumber("DE", "200"), url=vies.url) == Reply(is_valid=False, name=None)


def test_greece_is_asked_for_as_el(vies):
    check(VatNumber("GR", "094259216"), url=f"{vies.url}/")

    assert vies.questions == [
        {"path": "/check-vat-number", "countryCode": "EL", "vatNumber": "094259216"},
    ]


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        ("---", None),
        ("", None),
        (None, None),
        (7, None),
        (" Hut\n& \x00Söhne ", "Hut & Söhne"),
        ("x" * 300, "x" * 200),
    ],
)
def test_name_is_one_printable_line_or_none(vies, shown, name):
    vies.name = shown

    assert check(NUMBER, url=vies.url).name == name


@pytest.mark.parametrize("code", FAILURES)
def test_failure_is_no_answer_about_the_number(vies, code):
    with pytest.raises(ViesUnavailable):
        check(VatNumber("DE", code), url=vies.url)


@pytest.mark.parametrize("error", FAILURES.values())
def test_failure_sent_as_success_is_none_either(vies, error):
    vies.reply = 200, json.dumps({"actionSucceed": False, "errorWrappers": [{"error": error}]}).encode()
    with pytest.raises(ViesUnavailable):
        check(NUMBER, url=vies.url)

    reply(vies, isValid=False, userError=error, name="---")
    with pytest.raises(ViesUnavailable):
        check(NUMBER, url=vies.url)


@pytest.mark.parametrize(("flag", "user_error"), [(True, "VALID"), (False, "INVALID")])
def test_other_form_of_the_interface_is_understood(vies, flag, user_error):
    reply(vies, isValid=flag, userError=user_error, name="---")

    assert check(NUMBER, url=vies.url) == Reply(is_valid=flag, name=None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b"[]",
        b"true",
        b"{}",
        b'{"valid": "true"}',
        b'{"valid": null}',
        b'{"valid": 1}',
        b"[" * 60_000,
        b"\xff\xfe",
        b'{"valid": true, "name": "' + b"x" * 65_536 + b'"}',
    ],
    ids=lambda body: body[:20],
)
def test_garbage_is_no_answer(vies, body):
    vies.reply = 200, body

    with pytest.raises(ViesUnavailable):
        check(NUMBER, url=vies.url)


@pytest.mark.parametrize("status", [204, 301, 302, 307, 400, 403, 404, 429, 500, 503])
def test_other_status_is_no_answer_and_no_redirect_is_followed(vies, status):
    vies.headers = {"Location": f"{vies.url}/elsewhere"}
    vies.reply = status, b"" if status == 204 else b'{"valid": true}'

    with pytest.raises(ViesUnavailable):
        check(NUMBER, url=vies.url)

    assert len(vies.questions) == 1


def test_compressed_answer_is_none(vies):
    vies.headers = {"Content-Encoding": "gzip"}
    vies.reply = 200, b"\x1f\x8b garbage"

    with pytest.raises(ViesUnavailable):
        check(NUMBER, url=vies.url)


def test_truncated_answer_is_none(vies):
    vies.headers = {"Content-Length": "1000"}
    vies.reply = 200, b'{"valid": true}'

    with pytest.raises(ViesUnavailable):
        check(NUMBER, url=vies.url)


def test_nobody_listening_is_no_answer_at_once():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        started = time.monotonic()

        with pytest.raises(ViesUnavailable):
            check(NUMBER, url=url)

    assert time.monotonic() - started < 10


def test_slow_answer_is_not_waited_for(vies, monkeypatch):
    monkeypatch.setattr(client, "TOTAL_TIMEOUT_S", 0.2)
    vies.delay_s = 30
    started = time.monotonic()

    with pytest.raises(ViesUnavailable):
        check(NUMBER, url=vies.url)

    assert time.monotonic() - started < 15


def test_answer_that_trickles_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(client, "TOTAL_TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=trickle, args=(server,))
        thread.start()
        started = time.monotonic()

        with pytest.raises(ViesUnavailable):
            check(NUMBER, url=f"http://127.0.0.1:{server.getsockname()[1]}")
        waited_s = time.monotonic() - started
        thread.join()

    assert waited_s < 15


def trickle(server):
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        try:
            for _ in range(300):
                connection.sendall(b" ")
                time.sleep(0.1)
        except OSError:
            return

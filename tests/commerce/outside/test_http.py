"""Calls of outside URLs, with real servers on this machine."""

import contextlib
import socket
import ssl
import subprocess
import threading
import time

import pytest
from werkzeug import Response

from commerce.outside import http
from commerce.outside.addresses import AddressRefused
from commerce.outside.http import check_url, post

HOSTILE = {
    "http://127.0.0.1/": "address_not_public",
    "http://[::1]/": "address_not_public",
    "http://[::ffff:169.254.169.254]/latest": "address_not_public",
    "http://169.254.169.254/latest/meta-data": "address_not_public",
    "https://10.0.0.1:8443/": "address_not_public",
    "http://0/": "address_not_public",
    "http://2130706433/": "address_not_public",
    "http://localhost:8000/": "address_not_public",
    "ftp://93.184.216.34/": "invalid_url",
    "file:///etc/passwd": "invalid_url",
    "gopher://93.184.216.34/": "invalid_url",
    "//93.184.216.34/": "invalid_url",
    "93.184.216.34": "invalid_url",
    "http://": "invalid_url",
    "": "invalid_url",
    "http://user:secret@93.184.216.34/": "invalid_url",
    "http://93.184.216.34@127.0.0.1/": "invalid_url",
    "http://127.0.0.1\\@93.184.216.34/": "invalid_url",
    "http://93.184.216.34/\r\nHost: x": "invalid_url",
    "http://93.184.216.34/ a": "invalid_url",
    "http://\u2460\u2461\u2466.0.0.1/": "invalid_url",
    "http://93.184.216.34:22/": "port_not_allowed",
    "http://93.184.216.34:0/": "port_not_allowed",
    "http://93.184.216.34:99999/": "invalid_url",
}


def call(url, *, allow_private=True, **headers):
    return post(url, body=b"{}", headers=headers, allow_private=allow_private)


@contextlib.contextmanager
def dripping(first):
    """Start a server that begins an answer and then sends a byte now and then; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(first)
                while True:
                    connection.sendall(b"X")
                    time.sleep(0.05)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join(5)
        assert not thread.is_alive()


@pytest.mark.parametrize(("url", "code"), HOSTILE.items())
def test_url_that_must_not_be_called_is_refused(url, code):
    with pytest.raises(AddressRefused) as refused:
        check_url(url, allow_private=False)

    assert refused.value.code == code


@pytest.mark.parametrize(
    "url", ["https://93.184.216.34/a?b=c", "http://93.184.216.34:8080", "https://[2606:4700::1111]/"]
)
def test_url_at_a_public_address_may_be_called(url):
    check_url(url, allow_private=False)


@pytest.mark.parametrize("url", HOSTILE)
def test_url_that_must_not_be_called_is_not_called_either(url):
    answer = call(url, allow_private=False)

    assert answer.status is None
    assert answer.error


def test_call_sends_the_body_and_says_what_came_back(httpserver):
    httpserver.expect_request("/hook", method="POST", data=b"{}", headers={"X-One": "1"}).respond_with_data(
        "thanks", status=202
    )

    answer = call(httpserver.url_for("/hook"), **{"X-One": "1"})

    assert (answer.status, answer.excerpt, answer.error, answer.is_success) == (202, "thanks", "", True)
    assert 0 <= answer.duration_ms < 15_000


def test_call_names_the_host_of_the_url(httpserver):
    httpserver.expect_request("/").respond_with_data("")

    call(f"http://localhost:{httpserver.port}/")

    (request, _), *_ = httpserver.log
    assert request.headers["Host"] == f"localhost:{httpserver.port}"


def test_call_that_resolves_to_another_address_than_was_checked_is_refused(httpserver, monkeypatch):
    def getaddrinfo(host, port, **kwargs):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    answers = iter(["93.184.216.34", "127.0.0.1"])
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    url = f"http://rebinding.example:{httpserver.port}/"
    check_url(url, allow_private=False)

    answer = call(url, allow_private=False)

    assert (answer.status, answer.error) == (None, "The host is not at a public address.")
    assert httpserver.log == []


def test_call_takes_no_proxy(httpserver, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    httpserver.expect_request("/").respond_with_data("")

    assert call(httpserver.url_for("/")).status == 200


def test_call_follows_no_redirect(httpserver):
    httpserver.expect_request("/").respond_with_data(
        "", status=302, headers={"Location": httpserver.url_for("/in")}
    )
    httpserver.expect_request("/in").respond_with_data("secret")

    answer = call(httpserver.url_for("/"))

    assert (answer.status, answer.is_success) == (302, False)
    assert len(httpserver.log) == 1


def test_call_keeps_the_first_kib_in_characters_that_can_be_stored(httpserver):
    httpserver.expect_request("/").respond_with_data(b"\x00\xff" + b"x" * 5000)

    assert call(httpserver.url_for("/")).excerpt == "\ufffd\ufffd" + "x" * 1022


def test_call_unpacks_nothing(httpserver):
    httpserver.expect_request("/").respond_with_data(b"no gzip", headers={"Content-Encoding": "gzip"})

    answer = call(httpserver.url_for("/"))

    assert (answer.status, answer.excerpt) == (200, "no gzip")


def test_call_without_a_server_says_so():
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"

    answer = call(url)

    assert answer.status is None
    assert "Connection refused" in answer.error


def test_call_that_is_answered_too_late_is_given_up(httpserver, monkeypatch):
    monkeypatch.setattr(http, "ANSWER_TIMEOUT_S", 0.3)

    is_over = threading.Event()

    def sleep(request):
        is_over.wait(30)
        return Response("late")

    httpserver.expect_request("/").respond_with_handler(sleep)

    answer = call(httpserver.url_for("/"))
    is_over.set()

    assert (answer.status, answer.error) == (None, "No answer within 0.3 s.")
    assert answer.duration_ms < 15_000


def test_call_that_is_answered_byte_by_byte_is_given_up(monkeypatch):
    monkeypatch.setattr(http, "ANSWER_TIMEOUT_S", 0.3)

    with dripping(b"HTTP/1.1 20") as url:
        answer = call(url)

    assert (answer.status, answer.error) == (None, "No answer within 0.3 s.")
    assert answer.duration_ms < 15_000


def test_call_whose_answer_never_ends_counts_by_its_status(monkeypatch):
    monkeypatch.setattr(http, "ANSWER_TIMEOUT_S", 0.3)

    with dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n") as url:
        answer = call(url)

    assert (answer.status, answer.is_success) == (200, True)
    assert answer.duration_ms < 15_000


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A self-signed certificate of `localhost`, with its key."""
    folder = tmp_path_factory.mktemp("tls")
    made = folder / "certificate.pem"
    key = folder / "key.pem"
    subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost "
        f"-addext subjectAltName=DNS:localhost -keyout {key} -out {made}".split(),
        check=True,
        capture_output=True,
    )
    return made, key


@pytest.fixture
def tls_server(certificate):
    """Start a server with that certificate; yield its port and the host names that clients asked for."""
    names = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.sni_callback = lambda connection, name, context: names.append(name)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with contextlib.suppress(OSError):
                connection, _ = server.accept()
                with context.wrap_socket(connection, server_side=True) as secure:
                    asked = b""
                    while not asked.endswith(b"{}"):
                        asked += secure.recv(4096)
                    secure.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], names
        thread.join(5)


def test_call_checks_the_certificate_for_the_name_of_the_url(tls_server, certificate, monkeypatch):
    port, names = tls_server
    monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", str(certificate[0]))

    answer = call(f"https://localhost:{port}/")

    assert (answer.status, answer.error, names) == (204, "", ["localhost"])


def test_call_of_a_server_with_a_certificate_of_nobody_fails(tls_server):
    port, _ = tls_server

    answer = call(f"https://localhost:{port}/")

    assert answer.status is None
    assert "certificate verify failed" in answer.error

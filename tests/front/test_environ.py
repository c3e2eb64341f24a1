"""The environment of requests that Django gets."""

import pytest

from config.front.environ import UNREADABLE
from tests.front.wire import Wire, ask


def test_path_is_decoded_and_query_is_not(showing):
    document = ask(showing, "GET /caf%C3%A9/a%2Fb?q=caf%C3%A9&r=1").json()

    assert document["PATH_INFO"].encode("latin-1").decode() == "/café/a/b"
    assert document["QUERY_STRING"] == "q=caf%C3%A9&r=1"
    assert document["SCRIPT_NAME"] == ""


@pytest.mark.parametrize("path", ["/%FF%FE", "/%00", "/%C3", "/%", "/%zz"])
def test_path_that_is_no_text_still_reaches_django(showing, path):
    assert ask(showing, f"GET {path}").status == 200


def test_request_line_and_addresses(showing):
    document = ask(showing, "PUT /here").json()

    assert document["REQUEST_METHOD"] == "PUT"
    assert document["SERVER_PROTOCOL"] == "HTTP/1.1"
    assert document["REMOTE_ADDR"] == "127.0.0.1"
    assert (document["SERVER_NAME"], document["SERVER_PORT"]) == ("127.0.0.1", str(showing))
    assert document["wsgi.url_scheme"] == "http"
    assert document["HTTP_HOST"] == "localhost"


def test_headers_are_named_as_wsgi_wants(showing):
    document = ask(showing, "POST /", "Content-Type: text/plain", "X-Own-Header: 1", body=b"a").json()

    assert document["CONTENT_TYPE"] == "text/plain"
    assert document["HTTP_X_OWN_HEADER"] == "1"
    assert "HTTP_CONTENT_TYPE" not in document
    assert "HTTP_CONTENT_LENGTH" not in document


def test_repeated_headers_are_joined_in_their_order(showing):
    document = ask(
        showing,
        "GET /",
        "X-Forwarded-For: 203.0.113.1",
        "X-Forwarded-For: 192.0.2.1",
        "Cookie: a=1",
        "Cookie: b=2",
    ).json()

    assert document["HTTP_X_FORWARDED_FOR"] == "203.0.113.1, 192.0.2.1"
    assert document["HTTP_COOKIE"] == "a=1; b=2"


@pytest.mark.parametrize("name", ["X_Forwarded_For", "X-Forwarded_For", "x_forwarded-for"])
def test_header_with_an_underscore_is_not_taken_for_the_proxys(showing, name):
    before = ask(showing, "GET /", f"{name}: 203.0.113.1", "X-Forwarded-For: 192.0.2.1").json()
    after = ask(showing, "GET /", "X-Forwarded-For: 192.0.2.1", f"{name}: 203.0.113.1").json()
    alone = ask(showing, "GET /", f"{name}: 203.0.113.1").json()

    assert before["HTTP_X_FORWARDED_FOR"] == after["HTTP_X_FORWARDED_FOR"] == "192.0.2.1"
    assert "HTTP_X_FORWARDED_FOR" not in alone


@pytest.mark.parametrize(
    "value", ["Zahlung-M\xe4rz", "M\u00e4rz".encode().decode("latin-1"), "\xff", "a, \xff"]
)
@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("Idempotency-Key", "HTTP_IDEMPOTENCY_KEY"),
        ("X-Forwarded-For", "HTTP_X_FORWARDED_FOR"),
        ("Content-Type", "CONTENT_TYPE"),
    ],
)
def test_header_with_other_characters_than_ascii_is_known_to_have_been_sent(showing, name, variable, value):
    document = ask(showing, "POST /", f"{name}: {value}", "X-Other: 1", body=b"{}").json()

    assert document[variable] == UNREADABLE
    assert (document["HTTP_X_OTHER"], document["HTTP_HOST"]) == ("1", "localhost")


def test_readable_one_of_repeated_headers_is_passed_on(showing):
    document = ask(showing, "GET /", "X-Forwarded-For: \xff", "X-Forwarded-For: 192.0.2.1").json()

    assert document["HTTP_X_FORWARDED_FOR"] == "192.0.2.1"


@pytest.mark.parametrize(
    ("name", "variable"),
    [("X-Storefront-Key", "HTTP_X_STOREFRONT_KEY"), ("Authorization", "HTTP_AUTHORIZATION")],
)
def test_key_after_one_that_can_not_be_read_does_not_count(showing, name, variable):
    document = ask(showing, "GET /", f"{name}: \xe9", f"{name}: Bearer pk_1").json()
    alone = ask(showing, "GET /", f"{name}: Bearer pk_1").json()

    assert document[variable] == UNREADABLE
    assert alone[variable] == "Bearer pk_1"


def test_unreadable_header_with_an_underscore_is_dropped_too(showing):
    assert "HTTP_X_FORWARDED_FOR" not in ask(showing, "GET /", "X_Forwarded_For: \xff").json()


def test_variables_of_the_process_are_not_shown(showing):
    assert "SECRET_KEY" not in ask(showing, "GET /").json()


def test_head_has_the_headers_and_no_body(showing):
    with Wire(showing) as wire:
        wire.send("HEAD /")
        assert wire.answer(to_head=True).status == 200

        wire.send("GET /")
        assert wire.answer().json()["REQUEST_METHOD"] == "GET"

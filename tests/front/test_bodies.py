"""Bodies that are late, slow, too large, cut off or chunked, and how they are answered."""

import hashlib
import time
from contextlib import ExitStack, suppress

import pytest

from tests.front.served import PATIENCE_S
from tests.front.wire import Wire, ask

LIMIT = 1024 * 1024


def summarise(body):
    return [len(body), hashlib.sha256(body).hexdigest()]


@pytest.mark.parametrize("length", [1, 1_000, 100_000, LIMIT])
def test_body_arrives_whole(showing, length):
    body = bytes(number % 251 for number in range(length))

    document = ask(showing, "POST /", body=body).json()

    assert document["body"] == summarise(body)
    assert document["CONTENT_LENGTH"] == str(length)


def test_body_of_a_get_arrives_too(showing):
    assert ask(showing, "GET /", body=b"{}").json()["body"] == summarise(b"{}")


def test_chunked_body_gets_its_length(showing):
    body = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
    with Wire(showing) as wire:
        wire.send("POST /", "Transfer-Encoding: chunked", body=body)
        document = wire.answer().json()

        wire.send("POST /", "Transfer-Encoding: chunked", body=b"0\r\n\r\n")
        empty = wire.answer().json()

    assert document["body"] == summarise(b"hello world")
    assert document["CONTENT_LENGTH"] == "11"
    assert "HTTP_TRANSFER_ENCODING" not in document
    assert empty["body"] == summarise(b"")


def test_body_that_never_comes_is_refused(showing):
    announcements = ("Content-Length: 100", "Content-Length: 100000", "Transfer-Encoding: chunked")
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(showing)) for _ in announcements]
        for wire, announcement in zip(wires, announcements, strict=True):
            wire.send("POST /", announcement)

        for wire in wires:
            answer = wire.answer()
            assert (answer.status, answer.json()["refusal"]) == (408, "body_too_slow")
            assert answer.announces_close
            assert wire.is_closed()


def test_body_that_drips_is_refused_long_before_its_end(showing):
    """With a byte now and then, a time-out per read would never expire."""
    with Wire(showing) as wire:
        wire.send("POST /", "Content-Length: 100000")
        sent = 0
        with suppress(OSError):
            while sent < 10_000:
                wire.send_more(b"a")
                sent += 1
                time.sleep(0.02)

    assert sent < 10_000


def test_slow_body_may_take_longer_while_it_comes_fast_enough(showing):
    """Ten kilobytes at once allow ten more seconds."""
    part = b"a" * 10_240
    with Wire(showing) as wire:
        wire.send("POST /", f"Content-Length: {2 * len(part)}", body=part)
        time.sleep(1.5 * PATIENCE_S)
        wire.send_more(part)

        assert wire.answer().json()["body"] == summarise(2 * part)


def test_announced_length_past_the_limit_is_refused_without_reading(showing):
    with Wire(showing) as wire:
        wire.send("POST /", f"Content-Length: {LIMIT + 1}")
        answer = wire.answer()

        assert (answer.status, answer.json()["refusal"]) == (413, "body_too_large")
        assert answer.announces_close
        assert wire.is_closed()


def test_chunked_body_past_the_limit_is_refused_where_it_passes_it(showing):
    with Wire(showing) as wire:
        wire.send("POST /", "Transfer-Encoding: chunked", body=b"100001\r\n" + b"a" * (LIMIT + 1))
        answer = wire.answer()

        assert (answer.status, answer.json()["refusal"]) == (413, "body_too_large")
        assert answer.announces_close


@pytest.mark.parametrize(
    ("announcement", "part"),
    [
        ("Content-Length: 100", b"{}"),
        ("Content-Length: 100000", b"{}"),
        ("Transfer-Encoding: chunked", b"2\r\n{}\r\n"),
        ("Transfer-Encoding: chunked", b""),
    ],
)
def test_body_that_breaks_off_is_never_taken_for_a_whole_one(showing, announcement, part):
    with Wire(showing) as wire:
        wire.send("POST /", announcement, body=part)
        wire.stop_sending()
        answer = wire.answer()

    assert (answer.status, answer.json()["refusal"]) == (400, "malformed_request")


@pytest.mark.parametrize(
    "codings", ["gzip, chunked", "Chunked, gzip", "chunked, identity", "chunked, chunked"]
)
def test_body_in_another_transfer_coding_is_refused(showing, codings):
    with Wire(showing) as wire:
        wire.send("POST /", f"Transfer-Encoding: {codings}", body=b"2\r\n{}\r\n0\r\n\r\n")
        answer = wire.answer()

        # The server itself refuses some of them, without a response body.
        assert answer.status == 400
        assert not answer.body or answer.json()["refusal"] == "malformed_request"
        assert wire.is_closed()


def test_coding_is_named_in_any_case(showing):
    with Wire(showing) as wire:
        wire.send("POST /", "Transfer-Encoding: CHUNKED", body=b"2\r\n{}\r\n0\r\n\r\n")

        assert wire.answer().json()["body"] == summarise(b"{}")


@pytest.mark.parametrize("coding", ["gzip", "identity, br", "GZIP", "\xff"])
def test_compressed_body_is_refused_and_the_connection_goes_on(showing, coding):
    with Wire(showing) as wire:
        wire.send("POST /", f"Content-Encoding: {coding}", "Content-Length: 2", body=b"{}")
        answer = wire.answer()
        assert (answer.status, answer.json()["refusal"]) == (415, "unsupported_media_type")
        assert not answer.announces_close

        wire.send("POST /", "Content-Encoding: Identity", "Content-Length: 2", body=b"{}")
        assert wire.answer().json()["body"] == summarise(b"{}")


def test_silent_bodies_take_no_thread(showing):
    """More of them than threads and waiting places."""
    with ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(Wire(showing)).send("POST /", "Content-Length: 10")

        assert ask(showing, "POST /", body=b"{}").json()["body"] == summarise(b"{}")

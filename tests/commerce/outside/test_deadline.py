"""Bounds on whole calls, against sockets that would go on for ever. Times are generous: what counts is that calls end."""

import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import requests
from werkzeug import Response

from commerce.outside.adapters import BoundedAdapter
from commerce.outside.addresses import AddressRefused, addresses_of, connect
from commerce.outside.deadline import _Watch, cover, current_deadline, deadline, time_left
from tests.servers import dripping_server, silent_server

# Far longer than the deadlines below, and far shorter than for ever.
SOON_S = 20


def read_on(connection):
    connection.settimeout(SOON_S)
    # A byte that arrives after the end is answered by a reset.
    with suppress(ConnectionResetError):
        while connection.recv(1):
            pass


def test_connection_that_is_fed_byte_by_byte_is_cut():
    began = time.monotonic()

    with (
        dripping_server() as port,
        deadline(0.3) as limit,
        connect("127.0.0.1", port, timeout_s=5, allow_private=True) as made,
    ):
        read_on(made)
        assert limit.is_over

    assert 0.3 <= time.monotonic() - began < SOON_S


def test_inner_deadline_is_never_later_than_the_outer_one():
    with deadline(5) as outer:
        with deadline(60) as late:
            assert outer.left_s >= late.left_s
        with deadline(1) as early:
            assert early.left_s <= 1 < outer.left_s
            assert time_left(30) <= 1
        assert current_deadline() is outer
    assert current_deadline() is None
    assert time_left(30) == 30


def test_connection_of_a_call_that_has_ended_is_left_alone():
    with silent_server() as port:
        with deadline(0.2) as limit:
            made = connect("127.0.0.1", port, timeout_s=5, allow_private=True)
        with made:
            made.settimeout(0.5)
            with pytest.raises(TimeoutError):
                made.recv(1)
            assert limit.is_over


def test_nothing_begins_after_the_time_is_up():
    with silent_server() as port, deadline(0):
        with pytest.raises(OSError, match="No connection"):
            connect("127.0.0.1", port, timeout_s=5, allow_private=True)
        with socket.create_connection(("127.0.0.1", port)) as made, pytest.raises(TimeoutError):
            cover(made)


def test_deadline_of_one_thread_is_not_that_of_another():
    seen = []
    with deadline(1):
        thread = threading.Thread(target=lambda: seen.append(current_deadline()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_kept_connection_comes_under_the_deadline_of_each_call(httpserver):
    """The first call leaves its connection open, and nobody answers the second call on it."""
    first = threading.Event()

    def answer(request):
        if first.is_set():
            time.sleep(1)
        first.set()
        return Response("ok")

    httpserver.expect_request("/").respond_with_handler(answer)
    with requests.Session() as session:
        session.mount("http://", BoundedAdapter())
        with deadline(SOON_S):
            assert session.get(httpserver.url_for("/")).status_code == 200
        with deadline(0.2), pytest.raises(requests.ConnectionError):
            session.get(httpserver.url_for("/"))


def test_many_deadlines_share_a_thread():
    def read_for(seconds):
        with (
            silent_server() as port,
            deadline(seconds),
            connect("127.0.0.1", port, timeout_s=5, allow_private=True) as made,
        ):
            began = time.monotonic()
            read_on(made)
            return time.monotonic() - began

    with ThreadPoolExecutor(4) as pool:
        # The second ends before the first, and the third at the same time as the fourth.
        took = list(pool.map(read_for, [1.0, 0.2, 0.5, 0.5]))

    assert [
        wanted <= seconds < SOON_S for wanted, seconds in zip([0.9, 0.1, 0.4, 0.4], took, strict=True)
    ] == [True] * 4
    assert [thread.name for thread in threading.enumerate()].count("deadlines") == 1


def test_deadlines_hold_after_a_thread_could_not_be_started(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("commerce.outside.deadline._watch", _Watch())
    with monkeypatch.context() as patch, silent_server() as port:
        patch.setattr(threading.Thread, "start", refuse)
        with (
            socket.create_connection(("127.0.0.1", port)) as connection,
            deadline(5),
            pytest.raises(RuntimeError),
        ):
            cover(connection)

    with (
        silent_server() as port,
        socket.create_connection(("127.0.0.1", port), timeout=20) as connection,
        deadline(0.2),
    ):
        cover(connection)
        began = time.monotonic()
        connection.recv(1)
    assert time.monotonic() - began < 10


def test_deadline_ends_calls_in_a_forked_process_too():
    with silent_server() as port, deadline(SOON_S):
        connect("127.0.0.1", port, timeout_s=5, allow_private=True).close()
        child = os.fork()
        if child == 0:
            ended = False
            with deadline(0.2) as limit, connect("127.0.0.1", port, timeout_s=5, allow_private=True) as made:
                read_on(made)
                ended = limit.is_over
            os._exit(0 if ended else 1)
        _, status = os.waitpid(child, 0)

    assert status == 0


def test_look_up_that_hangs_is_given_up(monkeypatch):
    over = threading.Event()

    def getaddrinfo(host, port, **kwargs):
        over.wait(SOON_S)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    began = time.monotonic()

    with pytest.raises(AddressRefused) as refused, deadline(0.2):
        addresses_of("hangs.example", 443)

    over.set()
    assert refused.value.code == "host_not_found"
    assert time.monotonic() - began < SOON_S


def test_look_ups_of_a_name_that_hangs_are_few_and_others_go_on(monkeypatch):
    asked, over = [], threading.Event()

    def getaddrinfo(host, port, **kwargs):
        asked.append(host)
        if host == "hangs.example":
            over.wait(SOON_S)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    for _ in range(10):
        with pytest.raises(AddressRefused), deadline(0.02):
            addresses_of("hangs.example", 443)

    assert addresses_of("well.example", 443)[0][4] == ("93.184.216.34", 443)
    assert asked.count("hangs.example") <= 4
    over.set()

"""Hanging look-ups of a few shops leave places for others."""

import socket
import threading

import pytest

from commerce.outside import lookups
from commerce.outside.lookups import look_up
from commerce.waiting import Call, waiting_call
from tests.threads import run_threads

FOUND = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))]
LONG_S = 30


@pytest.fixture(autouse=True)
def _name_servers(monkeypatch):
    """Name servers that don't answer for names of hang.example until the test is over."""
    over = threading.Event()

    def getaddrinfo(host, port, **kwargs):
        if host.endswith("hang.example"):
            over.wait(LONG_S)
        return FOUND

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield
    over.set()
    for thread in threading.enumerate():
        if thread.name == "lookup":
            thread.join(LONG_S)
    assert not lookups._under_way
    assert not lookups._of_accounts


def hang(account_id, number):
    """Look up a number of names that hang."""
    for name in range(number):
        with pytest.raises(TimeoutError):
            look_up(f"{name}.{account_id}.hang.example", 443, timeout_s=0)


def hang_in_requests(*account_ids):
    for account_id in account_ids:
        with waiting_call(Call.LOOKUP, account_id, within_s=LONG_S):
            hang(account_id, lookups.MAX_LOOKUPS)


def test_slow_names_of_some_shops_leave_look_ups_for_others():
    hang_in_requests(*range(1, 21))

    with waiting_call(Call.LOOKUP, 21, within_s=LONG_S):
        assert look_up("well.example", 443, timeout_s=LONG_S) == FOUND
    assert look_up("of-the-installation.example", 443, timeout_s=LONG_S) == FOUND


def test_shop_has_its_part_of_the_look_ups_and_gets_it_back():
    with waiting_call(Call.LOOKUP, 1, within_s=LONG_S):
        hang(1, lookups.MAX_LOOKUPS)
        with pytest.raises(TimeoutError):
            look_up("well.example", 443, timeout_s=LONG_S)
        assert lookups._under_way.total() == lookups._of_accounts[1] == 7
    with waiting_call(Call.LOOKUP, 2, within_s=LONG_S):
        for _ in range(20):
            assert look_up("well.example", 443, timeout_s=LONG_S) == FOUND


def test_shops_that_look_up_at_once_get_no_more_than_their_parts():
    def several(index):
        with lookups.lookups_for(index % 3):
            hang(index % 3, lookups.MAX_LOOKUPS)

    assert run_threads(12, several) == [None] * 12

    # 64 places: each gets an eighth of the free ones.
    assert max(lookups._of_accounts.values()) <= 7
    assert lookups._under_way.total() <= 21

"""Guessing passwords of the back office is slow and locks nobody else out."""

import pytest
import redis
from django.test import Client, RequestFactory

from accounts.backoffice import login
from commerce import attempts
from commerce.attempts import Limit, begin_attempt
from commerce.client_address import client_address
from commerce.redis import client as redis_client
from tests.backoffice.clients import make_user
from tests.servers import closed_port
from tests.threads import run_threads

LOGIN = "/backoffice/login/"
HERE, THERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture(autouse=True)
def _ann(db):
    make_user(username="ann", password="correct horse")


@pytest.fixture
def limits(monkeypatch):
    """Set how many attempts are allowed: `limits(pair=2, address=3, name=4)`."""

    def set_limits(*, pair=100, address=100, name=100):
        monkeypatch.setattr(login, "_LIMITS", (Limit(pair, 900), Limit(address, 900), Limit(name, 60)))

    return set_limits


def longest_wait():
    """Return the longest remaining life of a counter, slightly less than what a response said."""
    return max(redis_client().ttl(name) for name in redis_client().scan_iter("login:*"))


def attempt(typed="wrong", *, name="ann", address=HERE):
    return Client(REMOTE_ADDR=address).post(LOGIN, {"username": name, "password": typed})


def statuses(number, **options):
    return [attempt(**options).status_code for _ in range(number)]


def test_sixth_attempt_of_a_name_from_an_address_has_to_wait():
    failed = statuses(5)

    refused = attempt()

    assert failed == [200] * 5
    assert refused.status_code == 429
    assert longest_wait() <= int(refused["Retry-After"]) <= 900
    assert "Too many failed log-in attempts. Try again in 15 minutes." in refused.content.decode()


def test_right_password_is_refused_as_well_while_attempts_have_to_wait():
    statuses(5)

    refused = attempt("correct horse")

    assert refused.status_code == 429
    assert "_auth_user_id" not in refused.wsgi_request.session


def test_names_that_differ_in_case_are_one():
    statuses(3, name="ann")

    assert statuses(3, name="ANN") == [200, 200, 429]


def test_name_is_not_shut_out_from_other_addresses():
    statuses(6)

    assert attempt("correct horse", address=THERE).status_code == 302


def test_others_at_the_address_are_not_shut_out():
    make_user(username="bob", password="battery staple")
    statuses(6)

    assert attempt("battery staple", name="bob").status_code == 302


def test_success_forgets_the_failures_before_it():
    statuses(4)

    assert attempt("correct horse").status_code == 302
    assert statuses(6) == [200] * 5 + [429]


def test_address_that_tries_many_names_has_to_wait(limits):
    limits(address=3)

    tried = [attempt(name=f"user-{number}").status_code for number in range(4)]

    assert tried == [200, 200, 200, 429]
    assert attempt("correct horse", address=THERE).status_code == 302


def test_name_that_many_addresses_try_has_to_wait_for_a_minute(limits):
    limits(name=3)

    tried = [attempt(address=f"192.0.2.{number}") for number in range(10, 14)]

    assert [answer.status_code for answer in tried] == [200, 200, 200, 429]
    assert 0 < int(tried[-1]["Retry-After"]) <= 60


def test_refused_attempts_use_up_no_other_limit(limits):
    limits(pair=1, name=2)

    assert statuses(5) == [200, 429, 429, 429, 429]
    assert attempt(address=THERE).status_code == 200


def test_good_attempts_use_up_no_limit(limits):
    limits(pair=2, address=2, name=2)

    assert statuses(5, typed="correct horse") == [302] * 5
    assert list(redis_client().scan_iter("login:*")) == []


def test_form_that_is_incomplete_is_no_attempt(limits):
    limits(pair=1)

    answers = [attempt("", name="ann"), attempt("x", name="")]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert list(redis_client().scan_iter("login:*")) == []


def test_attempts_at_once_are_all_counted():
    waits = run_threads(12, lambda _: begin_attempt(login.list_counters("ann", HERE)))

    assert sorted(wait > 0 for wait in waits) == [False] * 5 + [True] * 7


def test_counters_end_with_their_windows():
    attempt()

    lives = sorted(redis_client().ttl(name) for name in redis_client().scan_iter("login:*"))

    assert [round(life, -1) for life in lives] == [60, 900, 900]


def test_login_works_without_redis(monkeypatch, caplog):
    unreachable = redis.Redis(host="127.0.0.1", port=closed_port(), retry=None)
    monkeypatch.setattr(attempts, "client", lambda: unreachable)

    failed = statuses(7)

    assert failed == [200] * 7
    assert attempt("correct horse").status_code == 302
    assert "Attempts are not limited" in caplog.text


@pytest.mark.parametrize(
    ("is_behind_proxy", "forwarded", "address"),
    [
        (False, None, "192.0.2.1"),
        (False, "198.51.100.7", "192.0.2.1"),
        (True, None, "192.0.2.1"),
        (True, "198.51.100.7", "198.51.100.7"),
        (True, "10.0.0.1, 198.51.100.7", "198.51.100.7"),
        (True, "2001:db8:0:1::5", "2001:db8:0:1::/64"),
        (True, "unknown", "unknown"),
        (True, "", "192.0.2.1"),
    ],
)
def test_address_is_what_the_trusted_proxy_has_seen(settings, is_behind_proxy, forwarded, address):
    settings.BEHIND_TLS_PROXY = is_behind_proxy
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}

    request = RequestFactory().post(LOGIN, REMOTE_ADDR=HERE, headers=headers)

    assert client_address(request) == address

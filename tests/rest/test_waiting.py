"""Requests that wait for outside services: few of an account, and fewer in all than there are threads."""

from contextlib import ExitStack

import pytest

from commerce.outside.deadline import current_deadline
from commerce.rest.errors import TooManyOutsideCalls
from commerce.rest.waiting import waiting_call


def wait(stack, account_id, within_s=5):
    return stack.enter_context(waiting_call(account_id, within_s=within_s))


def test_account_has_its_share_and_no_more():
    with ExitStack() as waiting:
        wait(waiting, 1)
        wait(waiting, 1)

        with pytest.raises(TooManyOutsideCalls) as refused:
            wait(waiting, 1)

        assert refused.value.headers == {"Retry-After": "2"}
        wait(waiting, 2)
        with pytest.raises(TooManyOutsideCalls):
            wait(waiting, 3)
    with ExitStack() as waiting:
        wait(waiting, 1)
        wait(waiting, 3)


def test_place_is_given_back_after_an_error():
    for _ in range(5):
        with pytest.raises(ZeroDivisionError), waiting_call(1, within_s=5):
            raise ZeroDivisionError


def test_call_is_bounded_in_time():
    with waiting_call(1, within_s=5) as limit:
        assert current_deadline() is limit
        assert 0 < limit.left_s <= 5

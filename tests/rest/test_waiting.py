"""Requests that wait for outside services: each kind has its places, and an account gets at most half of them."""

from contextlib import ExitStack

import pytest

from commerce.errors import TooManyOutsideCalls
from commerce.outside.deadline import current_deadline
from commerce.outside.working import when_waiting
from commerce.waiting import Call, waiting_call


@pytest.fixture(autouse=True)
def _places(settings):
    settings.WEB_CALLS = {"payment": 3, "vat": 2, "email": 2, "preview": 1, "lookup": 1}


def wait(stack, kind, account_id, within_s=5):
    return stack.enter_context(waiting_call(kind, account_id, within_s=within_s))


def test_account_has_its_share_and_no_more():
    with ExitStack() as waiting:
        wait(waiting, Call.PAYMENT, 1)
        wait(waiting, Call.PAYMENT, 1)

        with pytest.raises(TooManyOutsideCalls) as refused:
            wait(waiting, Call.PAYMENT, 1)

        assert refused.value.headers == {"Retry-After": "2"}
        wait(waiting, Call.PAYMENT, 2)
        with pytest.raises(TooManyOutsideCalls):
            wait(waiting, Call.PAYMENT, 3)
    with ExitStack() as waiting:
        wait(waiting, Call.PAYMENT, 1)
        wait(waiting, Call.PAYMENT, 3)


@pytest.mark.parametrize("full", Call)
def test_kind_takes_no_place_of_another(full, settings):
    with ExitStack() as waiting:
        for number in range(settings.WEB_CALLS[full]):
            wait(waiting, full, -1 - number)
        with pytest.raises(TooManyOutsideCalls):
            wait(waiting, full, 1)

        for kind in set(Call) - {full}:
            for number in range(settings.WEB_CALLS[kind]):
                wait(waiting, kind, 1 + number)


def test_every_kind_has_places(settings):
    assert set(settings.WEB_CALLS) == set(Call)


def test_place_is_given_back_after_an_error():
    for _ in range(5):
        with pytest.raises(ZeroDivisionError), waiting_call(Call.VAT, 1, within_s=5):
            raise ZeroDivisionError


def test_call_is_bounded_in_time():
    with waiting_call(Call.VAT, 1, within_s=5) as limit:
        assert current_deadline() is limit
        assert 0 < limit.left_s <= 5


def test_server_is_told_that_the_thread_waits_but_not_of_a_refusal():
    told = []
    when_waiting(lambda: told.append("waits"), lambda: told.append("is back"))
    try:
        with waiting_call(Call.PREVIEW, 1, within_s=5):
            with pytest.raises(TooManyOutsideCalls):
                wait(ExitStack(), Call.PREVIEW, 2)
            assert told == ["waits"]
    finally:
        when_waiting(None, None)

    assert told == ["waits", "is back"]

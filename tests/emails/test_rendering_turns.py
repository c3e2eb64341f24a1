"""Who gets a place in the renderer, and who waits for one."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from emails import paces
from emails.paces import Lane, choose_lane, note_pace, note_slow, rendering_turn
from emails.renderer.limits import QUICK_PROCESSOR_SECONDS
from emails.renderer_client import RendererBusy

PATIENCE_S = 60
# Longer than a test may run.
FOREVER_S = 600


@contextmanager
def turn(account_id, *, lane, template=1, **options):
    with rendering_turn((account_id, template), **options) as given:
        assert given is lane
        yield


def is_busy(account_id, **options):
    try:
        with rendering_turn((account_id, 1), **options):
            return False
    except RendererBusy:
        return True


def test_slow_accounts_share_one_turn_and_do_not_wait_for_it(monkeypatch):
    monkeypatch.setattr(paces, "WAIT_S", FOREVER_S)
    monkeypatch.setattr(paces, "TRIAL_WAIT_S", FOREVER_S)
    for account_id in (1, 2):
        note_slow(account_id)

    with turn(1, lane=Lane.SLOW):
        assert is_busy(2)
        with turn(3, lane=Lane.QUICK):
            pass
    assert not is_busy(2)


def test_account_has_one_turn_at_a_time(monkeypatch):
    monkeypatch.setattr(paces, "TRIAL_WAIT_S", 0.01)

    with turn(1, lane=Lane.QUICK):
        assert is_busy(1)
    assert not is_busy(1)


def test_quick_places_are_kept_for_templates_that_can_be_trusted(monkeypatch):
    monkeypatch.setattr(paces, "TRIAL_WAIT_S", 0.01)
    monkeypatch.setattr(paces, "WAIT_S", 0.01)
    for account_id in (4, 5, 6):
        note_pace((account_id, 1), 0.01)

    with turn(1, lane=Lane.QUICK):
        assert is_busy(2)
        with turn(4, lane=Lane.QUICK):
            assert is_busy(5)
            with turn(2, lane=Lane.QUICK, is_platforms=True):
                assert is_busy(3, is_platforms=True)
            assert is_busy(6)
        # What is known to be quick is another template of the account, not the account.
        with ExitStack() as stack, pytest.raises(RendererBusy):
            stack.enter_context(rendering_turn((4, 2)))
    with turn(4, lane=Lane.QUICK), turn(5, lane=Lane.QUICK):
        assert is_busy(2)
        assert is_busy(6)


def wait_until_waiting(number):
    until = time.monotonic() + PATIENCE_S
    while len(paces._waiting) < number and time.monotonic() < until:
        time.sleep(0.01)


def test_messages_of_an_account_are_rendered_in_the_order_in_which_they_came(monkeypatch):
    """A thread that renders one message after another doesn't keep the others out."""
    monkeypatch.setattr(paces, "WAIT_S", FOREVER_S)
    order = []

    def render(name):
        with turn(1, lane=Lane.QUICK, is_platforms=True):
            order.append(name)

    with ThreadPoolExecutor(3) as others:
        with turn(1, lane=Lane.QUICK, is_platforms=True):
            waiting = []
            for number in range(3):
                waiting.append(others.submit(render, number))
                wait_until_waiting(number + 1)
        render("mine")
        for each in waiting:
            each.result(PATIENCE_S)

    assert order == [0, 1, 2, "mine"]


def test_message_that_waits_for_its_account_does_not_hold_up_another_account(monkeypatch):
    monkeypatch.setattr(paces, "WAIT_S", FOREVER_S)
    with ThreadPoolExecutor(1) as other, turn(1, lane=Lane.QUICK, is_platforms=True):
        waiting = other.submit(is_busy, 1, is_platforms=True)
        wait_until_waiting(1)

        with turn(2, lane=Lane.QUICK, is_platforms=True):
            assert not waiting.done()


def test_message_on_trial_gets_the_next_place_although_others_came_before(monkeypatch):
    """It waits for a shorter time than they do."""
    monkeypatch.setattr(paces, "WAIT_S", FOREVER_S)
    monkeypatch.setattr(paces, "TRIAL_WAIT_S", PATIENCE_S)
    with ThreadPoolExecutor(4) as others, ExitStack() as held:
        for account_id in range(paces.QUICK_PLACES - 1):
            held.enter_context(turn(account_id, lane=Lane.QUICK, is_platforms=True))
        with turn(9, lane=Lane.QUICK, is_platforms=True):
            earlier = [others.submit(is_busy, 10 + number, is_platforms=True) for number in range(3)]
            wait_until_waiting(3)
            trial = others.submit(hold_until, 20, lambda: [one.done() for one in earlier])
            wait_until_waiting(4)

        assert trial.result(PATIENCE_S) == [False, False, False]
        assert [one.result(PATIENCE_S) for one in earlier] == [False, False, False]


def hold_until(account_id, read):
    """Hold a turn for a moment. Return what can be read at its end."""
    with turn(account_id, lane=Lane.QUICK):
        time.sleep(0.2)
        return read()


def test_accounts_that_wait_for_their_own_rendering_leave_trials_to_others(monkeypatch):
    monkeypatch.setattr(paces, "TRIAL_WAIT_S", FOREVER_S)
    note_pace((1, 2), 0.01)
    note_pace((2, 2), 0.01)
    with ThreadPoolExecutor(3) as others:
        with turn(1, lane=Lane.QUICK, template=2), turn(2, lane=Lane.QUICK, template=2):
            waiting = [others.submit(is_busy, account_id) for account_id in (1, 2)]
            wait_until_waiting(2)

            waiting.append(others.submit(is_busy, 3))
            wait_until_waiting(3)
        assert [each.result(PATIENCE_S) for each in waiting] == [False, False, False]


def test_account_has_one_message_that_waits_for_a_trial(monkeypatch):
    """So that it doesn't keep other accounts from waiting."""
    monkeypatch.setattr(paces, "TRIAL_WAIT_S", FOREVER_S)
    with ThreadPoolExecutor(2) as others:
        with turn(1, lane=Lane.QUICK):
            waiting = [others.submit(is_busy, 1)]
            wait_until_waiting(1)

            assert is_busy(1)
            waiting.append(others.submit(is_busy, 2))
            wait_until_waiting(2)
        assert [each.result(PATIENCE_S) for each in waiting] == [False, False]


@pytest.mark.parametrize("interruption", [SystemExit, RendererBusy])
def test_interrupted_wait_leaves_no_place_taken(monkeypatch, interruption):
    def interrupted(self, timeout):
        raise interruption

    with monkeypatch.context() as patch, turn(1, lane=Lane.QUICK):
        patch.setattr(paces.Event, "wait", interrupted)
        with pytest.raises(interruption), rendering_turn((1, 1)):
            pytest.fail("It got a place.")

    assert not paces._waiting
    assert not is_busy(1)


def test_few_messages_wait_for_a_trial(monkeypatch):
    """Each holds a thread. The others go back to the outbox at once."""
    monkeypatch.setattr(paces, "TRIAL_WAIT_S", FOREVER_S)
    with ThreadPoolExecutor(paces.WAITING_TRIALS) as others, turn(1, lane=Lane.QUICK):
        waiting = [others.submit(is_busy, 2 + number) for number in range(paces.WAITING_TRIALS)]
        wait_until_waiting(paces.WAITING_TRIALS)

        assert is_busy(9)
        assert len(paces._waiting) == paces.WAITING_TRIALS
        for number in range(paces.WAITING_TRIALS):
            note_slow(2 + number)
        for each in waiting:
            each.result(PATIENCE_S)
    assert not is_busy(9)


def test_waiting_message_of_an_account_that_turns_slow_waits_no_longer(monkeypatch):
    monkeypatch.setattr(paces, "TRIAL_WAIT_S", FOREVER_S)
    with ThreadPoolExecutor(1) as other, turn(1, lane=Lane.QUICK):
        waiting = other.submit(is_busy, 1)
        wait_until_waiting(1)

        note_slow(1)

        assert waiting.result(PATIENCE_S)


def test_slowness_ends_with_time_and_not_with_a_quick_message(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(paces.time, "monotonic", lambda: now[0])
    note_pace((1, 1), QUICK_PROCESSOR_SECONDS + 0.001)
    note_pace((1, 1), 0.01)
    now[0] += paces.SLOW_FOR_S - 1
    assert choose_lane(1) is Lane.SLOW

    now[0] += 1

    assert choose_lane(1) is Lane.QUICK

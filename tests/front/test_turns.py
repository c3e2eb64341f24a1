"""The order in which waiting requests start: callers, their lanes and the targets that they name."""

import pytest

from config.front.turns import Turns
from tests.front.turns import add_all, start_all, work


def test_a_caller_leaves_two_threads_to_others():
    turns = Turns(8, max_waiting=100)
    crowd, other = [work("a") for _ in range(20)], work("b")
    add_all(turns, crowd)

    assert start_all(turns) == crowd[:6]
    turns.add(other)
    assert start_all(turns) == [other]


@pytest.mark.parametrize(("threads", "share"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 6)])
def test_share_of_a_caller(threads, share):
    turns = Turns(threads, max_waiting=100)
    add_all(turns, [work("a") for _ in range(20)])

    assert len(start_all(turns)) == share


def test_callers_take_turns():
    turns = Turns(1, max_waiting=100)
    first, second, third = [[work(caller) for _ in range(3)] for caller in "abc"]
    add_all(turns, [*first, *second, *third])

    order = []
    while one := turns.next():
        order.append(one)
        turns.finish(one)

    assert [one.caller for one in order] == list("abcabcabc")
    assert order[0::3] == first


def test_freed_thread_goes_to_the_caller_that_waits_longest_for_a_turn():
    turns = Turns(4, max_waiting=100)
    crowds = {caller: [work(caller) for _ in range(5)] for caller in "ab"}
    late = work("c")
    add_all(turns, [*crowds["a"], *crowds["b"]])
    running = start_all(turns)
    turns.add(late)
    assert sorted(one.caller for one in running) == ["a", "a", "b", "b"]

    turns.finish(running[0])

    assert start_all(turns) == [late]


def test_lanes_of_a_caller_take_turns():
    turns = Turns(1, max_waiting=100)
    flood, other = [work("a", lane="storefront") for _ in range(5)], work("a", lane="admin")
    add_all(turns, [*flood, other])

    order = []
    while one := turns.next():
        order.append(one)
        turns.finish(one)

    assert order == [flood[0], other, *flood[1:]]


def test_two_of_one_target_run_at_once_and_none_overtakes_another():
    turns = Turns(8, max_waiting=100)
    same = [work("a", "cart") for _ in range(6)]
    other = work("a", "other cart")
    add_all(turns, [*same[:5], other])

    running = start_all(turns)
    assert running == [*same[:2], other]

    turns.add(same[5])
    order = []
    while running:
        done = running.pop(0)
        order.append(done)
        turns.finish(done)
        running += start_all(turns)
    assert [one for one in order if one.target == "cart"] == same


def test_a_request_whose_target_got_free_is_not_overtaken_while_it_waits_for_a_thread():
    turns = Turns(8, max_waiting=100)
    first, second, third, fourth = [work("a", "cart") for _ in range(4)]
    others = [work("a") for _ in range(4)]
    add_all(turns, [first, second, third, *others])
    assert start_all(turns) == [first, second, *others]
    turns.add(fourth)
    turns.finish(first)

    assert start_all(turns) == [third]


def test_one_target_does_not_take_the_whole_share_of_its_shop():
    turns = Turns(4, max_waiting=100)
    same, other = [work("a", "cart") for _ in range(5)], work("a")
    add_all(turns, [*same, other])

    assert start_all(turns) == [same[0], other]


def test_equal_tokens_of_two_callers_are_two_targets():
    """Sending somebody's token with another key doesn't delay the token's owner."""
    turns = Turns(8, max_waiting=100)
    crowd, owner = [work("stranger", "cart") for _ in range(9)], work("owner", "cart")
    add_all(turns, [*crowd, owner])

    assert start_all(turns) == [crowd[0], owner, crowd[1]]


def test_nothing_is_kept_of_callers_and_targets_that_are_gone():
    turns = Turns(4, max_waiting=100)
    add_all(
        turns, [work(caller, target) for caller in "abc" for target in ("x", "y", None) for _ in range(3)]
    )
    count = 0
    while one := turns.next():
        count += 1
        turns.finish(one)

    assert count == 27
    assert (turns._callers, turns._targets, turns._waiting, turns._free) == ({}, {}, 0, 4)
    assert not turns._turns

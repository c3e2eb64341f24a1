"""Which of the waiting requests begins next."""

import pytest

from config.front.turns import Turns, Work


def work(caller, target=None):
    return Work(run=lambda: None, caller=caller, target=target)


def begun(turns):
    """All that begins now."""
    return list(iter(turns.next, None))


def added(turns, works):
    return [turns.add(one) for one in works]


def test_a_caller_leaves_two_threads_to_others():
    turns = Turns(8, max_waiting=100)
    crowd, other = [work("a") for _ in range(20)], work("b")
    added(turns, crowd)

    assert begun(turns) == crowd[:6]
    turns.add(other)
    assert begun(turns) == [other]


@pytest.mark.parametrize(("threads", "share"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 6)])
def test_share_of_a_caller(threads, share):
    turns = Turns(threads, max_waiting=100)
    added(turns, [work("a") for _ in range(20)])

    assert len(begun(turns)) == share


def test_callers_take_turns():
    turns = Turns(1, max_waiting=100)
    first, second, third = [[work(caller) for _ in range(3)] for caller in "abc"]
    added(turns, [*first, *second, *third])

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
    added(turns, [*crowds["a"], *crowds["b"]])
    running = begun(turns)
    turns.add(late)
    assert sorted(one.caller for one in running) == ["a", "a", "b", "b"]

    turns.finish(running[0])

    assert begun(turns) == [late]


def test_two_of_one_target_run_at_once_and_none_overtakes_another():
    turns = Turns(8, max_waiting=100)
    same = [work("a", "cart") for _ in range(6)]
    other = work("a", "other cart")
    added(turns, [*same[:5], other])

    running = begun(turns)
    assert running == [*same[:2], other]

    turns.add(same[5])
    order = []
    while running:
        done = running.pop(0)
        order.append(done)
        turns.finish(done)
        running += begun(turns)
    assert [one for one in order if one.target == "cart"] == same


def test_a_request_whose_target_got_free_is_not_overtaken_while_it_waits_for_a_thread():
    turns = Turns(8, max_waiting=100)
    first, second, third, fourth = [work("a", "cart") for _ in range(4)]
    others = [work("a") for _ in range(4)]
    added(turns, [first, second, third, *others])
    assert begun(turns) == [first, second, *others]
    turns.add(fourth)
    turns.finish(first)

    assert begun(turns) == [third]


def test_one_target_does_not_take_the_whole_share_of_its_shop():
    turns = Turns(4, max_waiting=100)
    same, other = [work("a", "cart") for _ in range(5)], work("a")
    added(turns, [*same, other])

    assert begun(turns) == [same[0], other]


def test_equal_tokens_of_two_callers_are_two_targets():
    """Whoever sends a token with a key of their own doesn't delay its owner."""
    turns = Turns(8, max_waiting=100)
    crowd, owner = [work("stranger", "cart") for _ in range(9)], work("owner", "cart")
    added(turns, [*crowd, owner])

    assert begun(turns) == [crowd[0], owner, crowd[1]]


def test_a_caller_may_take_as_many_places_as_it_leaves():
    turns = Turns(1, max_waiting=8)
    turns.add(work("first"))
    begun(turns)

    assert added(turns, [work("a") for _ in range(5)]) == [True] * 4 + [False]
    assert added(turns, [work("b") for _ in range(3)]) == [True] * 2 + [False]
    assert added(turns, [work("c") for _ in range(2)]) == [True, False]
    assert added(turns, [work("d") for _ in range(2)]) == [True, False]
    assert added(turns, [work("e")]) == [False]


def test_those_that_wait_for_their_target_take_places_too():
    turns = Turns(8, max_waiting=8)
    added(turns, [work("a", "cart") for _ in range(2)])
    begun(turns)
    crowd = []
    for _ in range(5):
        crowd.append(turns.add(work("a", "cart")))
        assert begun(turns) == []

    assert crowd == [True] * 4 + [False]
    assert turns.add(work("b"))


def test_nothing_is_kept_of_callers_and_targets_that_are_gone():
    turns = Turns(4, max_waiting=100)
    added(turns, [work(caller, target) for caller in "abc" for target in ("x", "y", None) for _ in range(3)])
    count = 0
    while one := turns.next():
        count += 1
        turns.finish(one)

    assert count == 27
    assert (turns._callers, turns._targets, turns._waiting, turns._free) == ({}, {}, 0, 4)
    assert not turns._turns


def test_work_that_waits_outside_takes_no_thread_and_no_share():
    turns = Turns(4, max_waiting=100)
    first, second, third, fourth = works = [work("a") for _ in range(4)]
    added(turns, works)
    assert begun(turns) == [first, second]

    turns.step_aside(first)
    turns.step_aside(first)
    assert begun(turns) == [third]
    turns.finish(first)
    assert begun(turns) == []
    turns.finish(second)
    assert begun(turns) == [fourth]


def test_work_that_waits_outside_keeps_its_target():
    turns = Turns(4, max_waiting=100)
    first, second = works = [work("a", "checkout") for _ in range(2)]
    added(turns, works)
    assert begun(turns) == [first]

    turns.step_aside(first)
    assert begun(turns) == []
    turns.finish(first)
    assert begun(turns) == [second]
    turns.finish(second)

    # Nothing is left over: as many begin as at first.
    again = [work("a") for _ in range(5)]
    added(turns, again)
    assert begun(turns) == again[:2]

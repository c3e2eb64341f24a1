"""The order in which waiting requests start."""

import pytest

from config.front.turns import Turns, Work


def work(caller, target=None, lane=""):
    return Work(run=lambda: None, refuse=lambda: None, caller=caller, lane=lane, target=target)


def start_all(turns):
    """Return everything that starts now."""
    return list(iter(turns.next, None))


def add_all(turns, works):
    """Return whether each found a place without taking another's."""
    return [turns.add(one) is None for one in works]


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


def test_a_caller_may_take_as_many_places_as_it_leaves():
    turns = Turns(1, max_waiting=8)
    turns.add(work("first"))
    start_all(turns)

    assert add_all(turns, [work("a") for _ in range(5)]) == [True] * 4 + [False]
    assert add_all(turns, [work("b") for _ in range(3)]) == [True] * 2 + [False]
    assert add_all(turns, [work("c") for _ in range(2)]) == [True, False]
    assert add_all(turns, [work("d") for _ in range(2)]) == [True, False]


def test_a_caller_that_has_none_gets_the_place_of_the_newest_of_whoever_has_most():
    turns = Turns(1, max_waiting=4)
    running, *crowd = [work("a") for _ in range(3)]
    add_all(turns, [running])
    assert start_all(turns) == [running]
    other, third = work("b"), work("c")
    assert add_all(turns, [*crowd, other, third]) == [True] * 4

    late = work("d")
    assert turns.add(late) is crowd[1]
    # Now each has one place: the next would take the only one of another.
    refused = work("e")
    assert turns.add(refused) is refused

    order = []
    while running:
        turns.finish(running)
        running = turns.next()
        order.append(running)
    assert order == [other, third, late, crowd[0], None]


def test_the_place_that_is_given_up_may_be_one_before_a_target():
    turns = Turns(4, max_waiting=3)
    first, second, third = [work("a", "cart") for _ in range(3)]
    for one in (first, second, third):
        turns.add(one)
        start_all(turns)
    rest = [work("b") for _ in range(3)]
    for one in rest:
        assert add_all(turns, [one]) == [True]
        start_all(turns)
    # Three are waiting: two for their cart, one for a thread.
    late = work("c")
    assert turns.add(late) is third
    assert start_all(turns) == [late]

    turns.finish(first)
    assert start_all(turns) == [second]
    for one in (second, *rest[:2], late):
        turns.finish(one)
    assert start_all(turns) == [rest[2]]
    turns.finish(rest[2])
    assert (turns._callers, turns._targets, turns._waiting, turns._free) == ({}, {}, 0, 4)


def test_many_strangers_refuse_no_shop():
    """With more callers than places, each with one request, a shop still gets its place."""
    turns = Turns(1, max_waiting=8)
    add_all(turns, [work("running")])
    start_all(turns)
    add_all(turns, [work("stranger") for _ in range(50)])
    shops = [work(f"shop {number}") for number in range(7)]

    refused = [turns.add(one) for one in shops]

    assert {one.caller for one in refused if one} == {"stranger"}


def test_lanes_of_a_caller_take_turns():
    turns = Turns(1, max_waiting=100)
    flood, other = [work("a", lane="storefront") for _ in range(5)], work("a", lane="admin")
    add_all(turns, [*flood, other])

    order = []
    while one := turns.next():
        order.append(one)
        turns.finish(one)

    assert order == [flood[0], other, *flood[1:]]


def test_lanes_have_one_share_and_the_longest_gives_up_its_newest():
    turns = Turns(4, max_waiting=6)
    running = [work("a", lane="storefront") for _ in range(2)]
    flood, admin = [work("a", lane="storefront") for _ in range(2)], work("a", lane="admin")
    add_all(turns, running)
    assert start_all(turns) == running
    assert add_all(turns, [*flood, admin]) == [True] * 3
    assert start_all(turns) == []
    assert add_all(turns, [work(shop) for shop in "bcd"]) == [True] * 3

    assert turns.add(work("e")) is flood[1]


def test_a_caller_that_has_all_its_places_gives_up_those_of_its_longest_lane():
    turns = Turns(1, max_waiting=8)
    running = work("a", lane="storefront")
    add_all(turns, [running])
    assert start_all(turns) == [running]
    flood = [work("a", lane="storefront") for _ in range(5)]
    assert add_all(turns, flood) == [True] * 4 + [False]

    admin = [work("a", lane="admin") for _ in range(3)]
    assert [turns.add(one) for one in admin] == [flood[3], flood[2], admin[2]]
    # Both have two now, and neither takes the other's.
    late = work("a", lane="storefront")
    assert turns.add(late) is late

    order = []
    while running:
        turns.finish(running)
        running = turns.next()
        order.append(running)
    assert order == [flood[0], admin[0], flood[1], admin[1], None]
    assert (turns._callers, turns._waiting, turns._free) == ({}, 0, 1)


def test_the_place_that_another_lane_takes_may_be_one_before_a_target():
    turns = Turns(4, max_waiting=6)
    same = [work("a", "cart", lane="storefront") for _ in range(4)]
    for one in same:
        assert add_all(turns, [one]) == [True]
        start_all(turns)

    admin = work("a", lane="admin")
    assert turns.add(admin) is same[3]
    assert start_all(turns) == [admin]

    for one in (same[0], admin, *same[1:3]):
        turns.finish(one)
        start_all(turns)
    assert (turns._callers, turns._targets, turns._waiting, turns._free) == ({}, {}, 0, 4)


def test_lanes_do_not_take_a_callers_only_place_from_each_other():
    turns = Turns(1, max_waiting=2)
    running, shopper, admin = (
        work("a", lane="storefront"),
        work("a", lane="storefront"),
        work("a", lane="admin"),
    )
    add_all(turns, [running])
    assert start_all(turns) == [running]

    assert add_all(turns, [shopper]) == [True]
    assert turns.add(admin) is admin
    turns.finish(running)
    assert start_all(turns) == [shopper]


def test_closed_it_drops_what_waits_and_takes_no_more():
    turns = Turns(4, max_waiting=100)
    running = [work("a", "cart"), work("b")]
    add_all(turns, running)
    assert start_all(turns) == running
    waiting = [work("a", "cart"), *[work("b") for _ in range(3)]]
    add_all(turns, waiting[:1])
    assert start_all(turns) == []
    turns.add(waiting[1])
    assert start_all(turns) == [waiting[1]]
    add_all(turns, waiting[2:])

    assert turns.close() == [waiting[0], *waiting[2:]]
    late = work("c")
    assert turns.add(late) is late
    assert start_all(turns) == []
    for one in (*running, waiting[1]):
        turns.finish(one)
    assert start_all(turns) == []
    assert (turns._callers, turns._targets, turns._waiting, turns._free) == ({}, {}, 0, 4)


def test_those_that_wait_for_their_target_take_places_too():
    turns = Turns(8, max_waiting=8)
    add_all(turns, [work("a", "cart") for _ in range(2)])
    start_all(turns)
    crowd = []
    for _ in range(5):
        crowd += add_all(turns, [work("a", "cart")])
        assert start_all(turns) == []

    assert crowd == [True] * 4 + [False]
    assert add_all(turns, [work("b")]) == [True]


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


def test_work_that_waits_outside_takes_no_thread_and_no_share():
    turns = Turns(4, max_waiting=100, spare=4)
    first, second, third, fourth = works = [work("a") for _ in range(4)]
    add_all(turns, works)
    assert start_all(turns) == [first, second]

    turns.step_aside(first)
    turns.step_aside(first)
    assert start_all(turns) == [third]
    turns.finish(first)
    assert start_all(turns) == []
    turns.finish(second)
    assert start_all(turns) == [fourth]


def test_work_that_waits_outside_keeps_its_target():
    turns = Turns(4, max_waiting=100, spare=4)
    first, second = works = [work("a", "checkout") for _ in range(2)]
    add_all(turns, works)
    assert start_all(turns) == [first]

    turns.step_aside(first)
    assert start_all(turns) == []
    turns.finish(first)
    assert start_all(turns) == [second]
    turns.finish(second)

    # Nothing is left over: as many start as at first.
    again = [work("a") for _ in range(5)]
    add_all(turns, again)
    assert start_all(turns) == again[:2]


def test_work_that_comes_back_counts_for_its_caller_again():
    turns = Turns(4, max_waiting=100, spare=4)
    works = [work("a") for _ in range(9)]
    add_all(turns, works)
    start_all(turns)
    for one in works[:3]:
        turns.step_aside(one)
        start_all(turns)
    # Two of its requests run and three wait for services: five at work, more than its share.
    for one in works[:3]:
        turns.step_back(one)
        turns.step_back(one)

    for one in works[:3]:
        turns.finish(one)
        assert start_all(turns) == []
    turns.finish(works[3])
    assert start_all(turns) == [works[5]]


def test_others_start_while_work_that_came_back_is_on_spare_threads():
    turns = Turns(4, max_waiting=100, spare=4)
    crowd = [work("a") for _ in range(9)]
    add_all(turns, crowd)
    start_all(turns)
    for one in crowd[:3]:
        turns.step_aside(one)
        start_all(turns)
    for one in crowd[:3]:
        turns.step_back(one)
    others = [work("b") for _ in range(2)]
    add_all(turns, others)

    assert start_all(turns) == others


def test_no_more_start_than_there_are_threads_in_all():
    """Every started request finds an idle thread."""
    turns = Turns(2, max_waiting=100, spare=1)
    works = [work(caller) for caller in "abcdef"]
    add_all(turns, works)
    running = start_all(turns)
    assert running == works[:2]
    for one in running:
        turns.step_aside(one)
        turns.step_back(one)

    assert start_all(turns) == [works[2]]
    turns.finish(works[0])
    assert start_all(turns) == [works[3]]


def test_work_may_wait_outside_again():
    turns = Turns(4, max_waiting=100, spare=4)
    works = [work("a") for _ in range(4)]
    add_all(turns, works)
    assert start_all(turns) == works[:2]
    for _ in range(3):
        turns.step_aside(works[0])
        turns.step_back(works[0])
    turns.step_aside(works[0])

    assert start_all(turns) == [works[2]]
    for one in works[:3]:
        turns.finish(one)
    assert start_all(turns) == [works[3]]
    turns.finish(works[3])
    assert (turns._callers, turns._free, turns._idle) == ({}, 4, 8)

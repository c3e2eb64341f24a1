"""Who gets a place to wait, and who gives one up."""

from config.front.turns import Turns
from tests.front.turns import add_all, start_all, work


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


def test_many_strangers_refuse_no_shop():
    """With more callers than places, each with one request, a shop still gets its place."""
    turns = Turns(1, max_waiting=8)
    add_all(turns, [work("running")])
    start_all(turns)
    add_all(turns, [work("stranger") for _ in range(50)])
    shops = [work(f"shop {number}") for number in range(7)]

    refused = [turns.add(one) for one in shops]

    assert {one.caller for one in refused if one} == {"stranger"}


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

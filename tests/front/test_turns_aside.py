"""Requests that wait for outside services leave their thread to others, and count again when they go on."""

from config.front.turns import Turns
from tests.front.turns import add_all, start_all, work


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

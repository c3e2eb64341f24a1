"""Threads that wait for outside services are replaced by spare ones."""

from threading import Event

from commerce.outside.working import begin_waiting
from config.front.threads import Threads
from config.front.turns import Work

LONG_S = 30


def test_spare_thread_works_while_another_waits_outside():
    threads = Threads(1, spare=1, max_waiting=10)
    threads.start()
    outside, answer, done = Event(), Event(), Event()

    def wait_outside():
        begin_waiting()
        outside.set()
        answer.wait(LONG_S)

    threads.submit(Work(run=wait_outside, caller="a"))
    assert outside.wait(LONG_S)
    threads.submit(Work(run=done.set, caller="a"))

    assert done.wait(LONG_S)
    answer.set()


def test_spare_thread_does_not_work_while_another_works():
    threads = Threads(1, spare=3, max_waiting=10)
    threads.start()
    begun, end, done = Event(), Event(), Event()

    def work():
        begun.set()
        end.wait(LONG_S)

    threads.submit(Work(run=work, caller="a"))
    assert begun.wait(LONG_S)
    threads.submit(Work(run=done.set, caller="a"))

    assert not done.wait(0.2)
    end.set()
    assert done.wait(LONG_S)


def test_thread_that_has_waited_takes_its_turn_again():
    """As many jobs run at once as before, however many have waited, and however often each."""
    threads = Threads(1, spare=2, max_waiting=100)
    threads.start()
    last = Event()

    def wait_twice():
        begin_waiting()
        begin_waiting()

    for _ in range(50):
        threads.submit(Work(run=wait_twice, caller="a"))
    threads.submit(Work(run=last.set, caller="a"))
    assert last.wait(LONG_S)

    begun, end, done = Event(), Event(), Event()
    threads.submit(Work(run=lambda: (begun.set(), end.wait(LONG_S)), caller="a"))
    assert begun.wait(LONG_S)
    threads.submit(Work(run=done.set, caller="a"))
    assert not done.wait(0.2)
    end.set()
    assert done.wait(LONG_S)

"""Threads that wait for outside services are replaced by spare threads."""

from threading import Event

from commerce.outside.working import waiting
from config.front.threads import Threads
from config.front.turns import Work

LONG_S = 30


def work(run, refuse=lambda: None):
    return Work(run=run, refuse=refuse, caller="a")


def test_spare_thread_works_while_another_waits_outside():
    threads = Threads(1, spare=1, max_waiting=10)
    threads.start()
    outside, answer, done = Event(), Event(), Event()

    def wait_outside():
        with waiting():
            outside.set()
            answer.wait(LONG_S)

    threads.submit(work(wait_outside))
    assert outside.wait(LONG_S)
    threads.submit(work(done.set))

    assert done.wait(LONG_S)
    answer.set()


def test_spare_thread_does_not_work_while_another_works():
    threads = Threads(1, spare=3, max_waiting=10)
    threads.start()
    begun, end, done = Event(), Event(), Event()

    def hold():
        begun.set()
        end.wait(LONG_S)

    threads.submit(work(hold))
    assert begun.wait(LONG_S)
    threads.submit(work(done.set))

    assert not done.wait(0.2)
    end.set()
    assert done.wait(LONG_S)


def test_thread_that_has_waited_takes_its_turn_again():
    """The number of concurrent jobs stays the same, however many have waited, and however often."""
    threads = Threads(1, spare=2, max_waiting=100)
    threads.start()
    last = Event()

    def wait_twice():
        for _ in range(2):
            with waiting():
                pass

    for _ in range(50):
        threads.submit(work(wait_twice))
    threads.submit(work(last.set))
    assert last.wait(LONG_S)

    begun, end, done = Event(), Event(), Event()
    threads.submit(work(lambda: (begun.set(), end.wait(LONG_S))))
    assert begun.wait(LONG_S)
    threads.submit(work(done.set))
    assert not done.wait(0.2)
    end.set()
    assert done.wait(LONG_S)


def test_closed_it_refuses_what_waits_and_what_comes_and_finishes_what_runs():
    threads = Threads(1, max_waiting=10)
    threads.start()
    begun, end, done, refused = Event(), Event(), Event(), []
    threads.submit(work(lambda: (begun.set(), end.wait(LONG_S), done.set())))
    assert begun.wait(LONG_S)
    threads.submit(work(done.set, lambda: refused.append("waits")))

    threads.close()
    threads.submit(work(done.set, lambda: refused.append("comes")))

    assert refused == ["waits", "comes"]
    assert not done.is_set()
    end.set()
    assert done.wait(LONG_S)

import os
from concurrent.futures import ThreadPoolExecutor

from commerce.outside.per_thread import keep_per_thread


@keep_per_thread(maxsize=2)
def session_with(host):
    return [host]


def test_thread_keeps_its_session():
    assert session_with("a") is session_with("a")
    assert session_with("a") == ["a"]
    assert session_with("b") == ["b"]


def test_another_thread_gets_a_session_of_its_own():
    own = session_with("a")

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(session_with, "a").result() is not own
    assert session_with("a") is own


def test_forked_process_gets_a_session_of_its_own():
    own = session_with("a")
    child = os.fork()
    if child == 0:
        os._exit(1 if session_with("a") is own else 0)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_longest_unused_session_is_dropped():
    first = session_with("a")
    session_with("b")
    session_with("c")

    assert session_with("a") is not first


def test_cleared_sessions_are_made_again():
    before = session_with("a")
    session_with.clear()

    assert session_with("a") is not before

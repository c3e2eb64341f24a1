"""What ends a rendering: the processor time that the template takes, but not a busy machine."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from emails.renderer import lanes, mjml_source
from emails.renderer.lanes import hold_slow_lane
from emails.renderer.problems import RendererBusy, TemplateLimitExceeded
from tests.emails.renderer.conftest import MJML

BEGIN = """
import time
from emails.renderer import limits
from emails.renderer.problems import Problem

def end_of(work):
    try:
        with limits.limit_resources():
            work()
    except Problem as problem:
        return problem.code, problem.status
    return "done"

def compute():
    while True:
        pass
"""


def outcome(script):
    """Run the script in a process of its own, because pytest uses signals itself."""
    return subprocess.run(
        [sys.executable, "-c", BEGIN + script], check=False, capture_output=True, text=True, timeout=120
    )


def test_waiting_is_not_the_templates_fault():
    ended = outcome("print(end_of(lambda: time.sleep(3.2)))")

    assert (ended.stdout, ended.stderr) == ("done\n", "")


def test_processor_time_is_the_templates_fault():
    ended = outcome("limits.MAX_SECONDS = 50; print(end_of(compute), end_of(lambda: None))")

    assert ended.stdout == "('template_limit_exceeded', 422) done\n"


def test_time_that_a_busy_machine_takes_ends_in_an_answer_that_allows_another_try():
    ended = outcome("limits.MAX_SECONDS = 0.2; print(end_of(lambda: time.sleep(30)), end_of(lambda: None))")

    assert ended.stdout == "('renderer_busy', 503) done\n"


def test_quick_lane_allows_less_and_says_so():
    ended = outcome(
        "limits.MAX_PROCESSOR_SECONDS = 1000\n"
        "def end_of(work):\n"
        "    try:\n"
        "        with limits.limit_resources(is_quick=True): work()\n"
        "    except Problem as problem: return problem.code, problem.status\n"
        "print(end_of(compute))"
    )

    assert ended.stdout == "('too_slow_for_lane', 503)\n"


def test_signal_that_comes_too_early_ends_nothing():
    """Kernels count processor time by ticks, so a timer may fire before the time is up."""
    early = "lambda: [os.kill(os.getpid(), number) for number in (signal.SIGPROF, signal.SIGALRM)]"
    ended = outcome(f"import os, signal; limits.MAX_SECONDS = 50; print(end_of({early}), end_of(compute))")

    assert ended.stdout == "done ('template_limit_exceeded', 422)\n"


def test_worker_is_not_killed_for_what_it_used_before():
    """The clock that a process reads and the ticks in which its limits are counted drift apart."""
    ended = outcome(
        "exact = time.process_time\n"
        "def use(seconds):\n"
        "    until = exact() + seconds\n"
        "    while exact() < until: pass\n"
        "use(1.5)\n"
        "time.process_time = lambda: exact() - 5\n"
        "print(end_of(lambda: use(0.3)))"
    )

    assert (ended.returncode, ended.stdout) == (0, "done\n")


def test_what_no_signal_interrupts_is_killed():
    ended = outcome(
        "import hashlib; limits.KILL_AFTER_SECONDS = 0\n"
        "end_of(lambda: hashlib.pbkdf2_hmac('sha512', b'p', b's', 2**31 - 1))"
    )

    assert ended.returncode == -signal.SIGVTALRM


def test_processor_time_is_told(post):
    answer = post()

    name, _, took_ms = answer.headers["Server-Timing"].partition(";dur=")
    assert name == "cpu"
    assert 0 < float(took_ms) < 1000


def test_one_process_at_a_time_is_in_the_slow_lane():
    context = multiprocessing.get_context("fork")
    holds, end = context.Event(), context.Event()

    def hold():
        with hold_slow_lane():
            holds.set()
            end.wait(60)

    holder = context.Process(target=hold)
    holder.start()
    try:
        assert holds.wait(60)
        with ExitStack() as stack, pytest.raises(RendererBusy):
            stack.enter_context(hold_slow_lane())
    finally:
        end.set()
        holder.join()

    with hold_slow_lane():
        pass


def test_workers_share_the_slow_lane(post):
    """While one works on a slow message, the other refuses further ones, but not quick ones."""
    costly = MJML.format("{% assign s = 'ab,' %}" + "{% assign s = s | append: s %}" * 15 + COMPUTE)
    lane = {"X-Render-Lane": "slow"}
    with ThreadPoolExecutor(1) as other:
        for _ in range(60):
            slow = other.submit(post, headers=lane, body_source=costly)
            answers = []
            while not slow.done():
                answers.append((post(headers=lane).status_code, post().status_code))
            assert slow.result().json()["code"] in {"template_limit_exceeded", "renderer_busy"}
            if (503, 200) in answers:
                break
        else:
            pytest.fail("No message was refused.")

    assert post(headers=lane).status_code == 200


def test_message_that_is_too_slow_for_the_quick_lane_goes_to_the_slow_one(post):
    costly = MJML.format("{% assign s = 'ab,' %}" + "{% assign s = s | append: s %}" * 15 + COMPUTE)

    answers = [post(headers={"X-Render-Lane": "quick"}, body_source=source) for source in (costly, ...)]

    assert [answer.status_code for answer in answers] == [503, 422]
    assert answers[0].json()["code"] == "too_slow_for_lane"
    assert post(headers={"X-Render-Lane": "quick"}).status_code == 200


COMPUTE = "{% for i in (1..9000) %}{% assign t = s | split: ',' | join: '-' %}{% endfor %}"


def css(size, tags):
    rules = f'<mj-style inline="inline">{"a" * size}</mj-style>'
    return MJML.format("<p>" * (tags - 12)).replace("<mjml>", f"<mjml><mj-head>{rules}</mj-head>")


@pytest.mark.parametrize(
    ("size", "tags", "is_taken"),
    [
        (16_000, 150, True),
        (16_000, 250, False),
        (8_000, 1_000, False),
        (4_000, 1_400, True),
        (4_000, 1_600, False),
    ],
)
def test_css_to_inline_is_bounded_by_what_it_costs(size, tags, is_taken):
    if is_taken:
        mjml_source.prepare(css(size, tags), preheader=None)
        return
    with pytest.raises(TemplateLimitExceeded, match="Too much CSS"):
        mjml_source.prepare(css(size, tags), preheader=None)


def test_slow_lane_stays_closed_for_a_while_after_a_death_in_it(monkeypatch):
    """The next message may be just as deadly for the worker that is left."""
    context = multiprocessing.get_context("fork")

    def die():
        with hold_slow_lane():
            os.kill(os.getpid(), signal.SIGKILL)

    now = time.monotonic()
    dying = context.Process(target=die)
    dying.start()
    dying.join()
    assert dying.exitcode == -signal.SIGKILL

    monkeypatch.setattr(lanes.time, "monotonic", lambda: now + lanes.CLOSED_S - 1)
    with ExitStack() as stack, pytest.raises(RendererBusy, match="ended its worker"):
        stack.enter_context(hold_slow_lane())
    # Counted from when the lane was taken, which was after `now`.
    monkeypatch.setattr(lanes.time, "monotonic", lambda: now + lanes.CLOSED_S + 120)
    for _ in range(2):
        with hold_slow_lane():
            pass

"""What the CSS inliner can't survive costs its own process and not the worker."""

import errno
import faulthandler
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from emails.renderer.inliner import ForkingInliner
from emails.renderer.mjml_compiler import compile_mjml
from emails.renderer.problems import RendererBusy
from tests.emails.renderer.conftest import MJML

RED = '<mj-style inline="inline">b { color: red; }</mj-style>'
# Each paragraph opens every <b> again, as none was closed: five million elements of less than 5,000 tags.
REOPENED = "<p>{% for i in (1..2300) %}<b c{{ i }}>{% endfor %}</p>{% for i in (1..2300) %}<p>x{% endfor %}"
# The same with few tags and many attributes.
REOPENED_ATTRIBUTES = "<p><b {% for i in (1..9900) %} a{{ i }}{% endfor %}></p>" + "<p>x" * 4900


def inlined(content):
    return MJML.format(content).replace("<mjml>", f"<mjml><mj-head>{RED}</mj-head>")


@pytest.mark.parametrize("content", [REOPENED, REOPENED_ATTRIBUTES], ids=["tags", "attributes"])
@pytest.mark.parametrize("lane", ["slow", None])
def test_document_that_explodes_is_refused_and_every_worker_stays(post, renderer_service, content, lane):
    before = worker_ids(renderer_service)

    answer = post(headers={"X-Render-Lane": lane} if lane else None, body_source=inlined(content))

    assert (answer.status_code, answer.json()["code"]) == (422, "template_limit_exceeded")
    assert worker_ids(renderer_service) == before


def test_document_that_explodes_is_too_slow_for_the_quick_lane(post, renderer_service):
    before = worker_ids(renderer_service)

    answer = post(headers={"X-Render-Lane": "quick"}, body_source=inlined(REOPENED))

    assert (answer.status_code, answer.json()["code"]) == (503, "too_slow_for_lane")
    assert worker_ids(renderer_service) == before


def worker_ids(service):
    """The workers' processes. Both are asked first, as one that has grown too large is replaced."""
    for _ in range(4):
        assert requests.get(f"{service.url}/healthz", timeout=60).ok
    listed = subprocess.run(
        ["ps", "--no-headers", "-o", "pid", "--ppid", str(service.process_id)],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(listed.stdout.split())


def test_usual_document_is_inlined():
    inliner = ForkingInliner(extra_css="b { color: red }", load_remote_stylesheets=False)

    assert '<b style="color: red' in inliner.inline("<p><b>x</b></p>")


@pytest.mark.parametrize(
    ("number", "error"),
    [
        (signal.SIGABRT, MemoryError),
        (signal.SIGSEGV, MemoryError),
        # Not by its own limits: the machine is short of memory.
        (signal.SIGKILL, RendererBusy),
    ],
)
def test_inliner_that_dies_says_whose_fault_it_is(number, error):
    inliner = ForkingInliner()
    inliner._inliner = Dying(number)

    with pytest.raises(error):
        inliner.inline("<p>x</p>")

    assert_no_dead_child_is_left()


def test_error_of_the_inliner_is_passed_on():
    inliner = ForkingInliner()
    inliner._inliner = Failing()

    with pytest.raises(ValueError, match="The rule is odd"):
        inliner.inline("<p>x</p>")

    assert_no_dead_child_is_left()


def test_processor_time_of_the_inliner_counts():
    """In a process of its own, because pytest uses signals itself."""
    script = (
        "import time\n"
        "from emails.renderer import limits\n"
        "from emails.renderer.inliner import ForkingInliner\n"
        "from emails.renderer.problems import Problem\n"
        "class Slow:\n"
        "    def inline(self, html):\n"
        "        until = time.process_time() + float(html)\n"
        "        while time.process_time() < until: pass\n"
        "        return 'x' * 3\n"
        "inliner = ForkingInliner()\n"
        "inliner._inliner = Slow()\n"
        "limits.MAX_SECONDS = 100\n"
        "def end_of(*parts):\n"
        "    try:\n"
        "        with limits.limit_resources():\n"
        "            for part in parts: inliner.inline(part)\n"
        "            time.sleep(0.1)\n"
        "    except Problem as problem: return problem.code\n"
        "    return 'done'\n"
        "print(end_of('0.3'), end_of('60'), end_of('0.9', '0.9'))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=120
    )

    assert ended.stdout == "done template_limit_exceeded template_limit_exceeded\n"


def test_message_waits_while_the_machine_allows_no_further_process(monkeypatch):
    def refuse():
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    before = len(list(Path("/proc/self/fd").iterdir()))

    with pytest.raises(RendererBusy):
        compile_mjml(inlined("<b>x</b>"), preheader=None)

    assert len(list(Path("/proc/self/fd").iterdir())) == before


class Dying:
    def __init__(self, number):
        self.number = number

    def inline(self, html):
        faulthandler.disable()
        os.kill(os.getpid(), self.number)


class Failing:
    def inline(self, html):
        raise RuntimeError("The rule is odd")


def assert_no_dead_child_is_left():
    """Other children of the tests' process may be running."""
    try:
        assert os.waitpid(-1, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return

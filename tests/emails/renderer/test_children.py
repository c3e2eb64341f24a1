"""What native code can't survive costs a process of its own and not the worker."""

import errno
import faulthandler
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from emails.renderer import mjml_compiler
from emails.renderer.children import run_in_child
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
    # Others may have been added: a worker that an earlier test let grow is replaced.
    assert worker_ids(renderer_service) >= before


def test_document_that_explodes_is_too_slow_for_the_quick_lane(post, renderer_service):
    before = worker_ids(renderer_service)

    answer = post(headers={"X-Render-Lane": "quick"}, body_source=inlined(REOPENED))

    assert (answer.status_code, answer.json()["code"]) == (503, "too_slow_for_lane")
    # Others may have been added: a worker that an earlier test let grow is replaced.
    assert worker_ids(renderer_service) >= before


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


@pytest.mark.parametrize("is_trusted", [True, False])
def test_only_what_is_not_trusted_is_compiled_in_a_child(monkeypatch, is_trusted):
    own_id = os.getpid()
    monkeypatch.setattr(mjml_compiler, "compile_document", lambda _document: str(os.getpid() == own_id))

    assert compile_mjml(MJML.format("x"), preheader=None, is_trusted=is_trusted).html == str(is_trusted)


def test_child_gives_the_same_html():
    in_child, here = (
        compile_mjml(inlined("<b>Á</b>"), preheader="x", is_trusted=is_trusted).html
        for is_trusted in (False, True)
    )

    assert in_child == here
    assert '<b style="color: red;">Á</b>' in here


@pytest.mark.parametrize(
    ("number", "error"),
    [
        (signal.SIGABRT, MemoryError),
        (signal.SIGSEGV, MemoryError),
        # Not by its own limits: the machine is short of memory.
        (signal.SIGKILL, RendererBusy),
    ],
)
def test_child_that_dies_says_whose_fault_it_is(number, error):
    def die():
        faulthandler.disable()
        os.kill(os.getpid(), number)

    with pytest.raises(error):
        run_in_child(die)

    assert_no_dead_child_is_left()


@pytest.mark.parametrize("kind", [RuntimeError, BaseException])
def test_error_of_a_child_is_passed_on(kind):
    def fail():
        raise kind("The rule is odd")

    with pytest.raises(ValueError, match="The rule is odd"):
        run_in_child(fail)

    assert_no_dead_child_is_left()


def test_processor_time_of_a_child_counts():
    """In a process of its own, because pytest uses signals itself."""
    script = (
        "import time\n"
        "from emails.renderer import limits\n"
        "from emails.renderer.children import run_in_child\n"
        "from emails.renderer.problems import Problem\n"
        "def work(seconds):\n"
        "    until = time.process_time() + seconds\n"
        "    while time.process_time() < until: pass\n"
        "    return 'x' * 3\n"
        "limits.MAX_SECONDS = 100\n"
        "def end_of(*parts):\n"
        "    try:\n"
        "        with limits.limit_resources():\n"
        "            for part in parts: run_in_child(lambda: work(part))\n"
        "            time.sleep(0.1)\n"
        "    except Problem as problem: return problem.code\n"
        "    return 'done'\n"
        "print(end_of(0.3), end_of(60), end_of(0.9, 0.9))\n"
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


def assert_no_dead_child_is_left():
    """Other children of the tests' process may be running."""
    try:
        assert os.waitpid(-1, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return

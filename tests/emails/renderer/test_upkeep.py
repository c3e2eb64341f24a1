"""What a worker does between messages, so that none is refused for memory that others have left behind."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from emails.renderer import gunicorn_conf, liquid_templates, upkeep
from emails.renderer.liquid_templates import _ParsedTemplates

SCRIPT = """
import gc
from emails.renderer.gunicorn_conf import post_request, post_worker_init
from emails.renderer.limits import limit_resources
from emails.renderer.message import parse_message
from emails.renderer.rendering import render_message

whole, where = [], "between"
gc.callbacks.append(lambda phase, info: phase == "start" and info["generation"] == 2 and whole.append(where))
condition = "{% if " + " or ".join(["a"] * 100) + " %}{% endif %}"
post_worker_init(None)
whole.clear()
for number in range(40):
    source = f"{number}" + condition * 10
    message = parse_message({"source_format": "mjml", "body_source": "<mjml><mj-body></mj-body></mjml>",
                             "subject_template": source, "ctx": {}})
    where = "within"
    with limit_resources():
        render_message(message)
    where = "between"
    post_request(None, None, {}, None)
print(sorted(set(whole)))
"""


def test_whole_garbage_collections_run_between_messages():
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT], check=False, capture_output=True, text=True, timeout=120
    )

    assert (ended.stdout, ended.stderr) == ("['between']\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="The size of a process is known on Linux only.")
@pytest.mark.parametrize(("limit", "goes_on"), [(0, False), (2**40, True)])
def test_worker_that_has_grown_too_large_ends_after_its_message(monkeypatch, limit, goes_on):
    monkeypatch.setattr(upkeep, "MAX_RESIDENT_BYTES", limit)
    worker = SimpleNamespace(alive=True)

    gunicorn_conf.post_request(worker, None, {}, None)

    assert worker.alive is goes_on


def test_parsed_templates_are_kept_up_to_a_size(monkeypatch):
    monkeypatch.setattr(liquid_templates, "_MAX_KEPT_CHARACTERS", 10)
    monkeypatch.setattr(liquid_templates, "_MAX_CHARACTERS", 6)
    kept, environment = _ParsedTemplates(), liquid_templates._TEXT
    first, second = kept.get(environment, "a" * 4), kept.get(environment, "b" * 4)

    assert kept.get(environment, "a" * 4) is first
    kept.get(environment, "c" * 4)
    assert kept.get(environment, "a" * 4) is first
    assert kept.get(environment, "b" * 4) is not second
    assert kept.characters == 8
    kept.get(environment, "d" * 7)
    assert kept.characters == 8

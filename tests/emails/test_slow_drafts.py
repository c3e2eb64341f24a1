"""Templates that take long to render are refused when they are saved, and drafts keep the renderer free for messages."""

import pytest

from tests.emails.own_templates.conftest import PATH, body, versions
from tests.problems import problem

pytestmark = pytest.mark.django_db(transaction=True)


def test_template_that_takes_long_is_neither_saved_nor_previewed(shop, renderer):
    renderer.headers = {"Server-Timing": "cpu;dur=501.0"}

    refused = shop.admin.put(f"{PATH}/de.json", body())
    previewed = shop.admin.post(f"{PATH}/de/preview.json", {"subject": "New"})

    for answer in (refused, previewed):
        assert problem(answer) == (422, "template_invalid")
        (error,) = answer.json()["errors"]
        assert (error["field"], error["code"]) == ("body_source", "template_limit_exceeded")
        assert "0.50 s of processor time" in answer.json()["detail"]
    assert versions(shop) == []
    renderer.headers = {"Server-Timing": "cpu;dur=500.0"}
    assert shop.admin.put(f"{PATH}/de.json", body()).status_code == 200
    # Drafts share one worker of the renderer.
    assert set(renderer.lanes) == {"slow"}


def test_draft_waits_for_the_renderer_and_is_refused_if_it_stays_busy(shop, renderer, monkeypatch):
    monkeypatch.setattr("emails.own_templates.rendering.WITHIN_S", 3.5)
    renderer.refuse(503, "renderer_busy")

    refused = shop.admin.put(f"{PATH}/de.json", body())

    assert (problem(refused), refused["Retry-After"]) == ((503, "too_many_outside_calls"), "2")
    assert len(renderer.requests) > 1
    assert versions(shop) == []


def test_draft_is_rendered_once_the_renderer_is_free(shop, renderer):
    usual = renderer.answer
    renderer.refuse(503, "renderer_busy")

    def answer_the_second(request):
        if len(renderer.requests) > 1:
            renderer.status, renderer.answer = 200, usual

    renderer.hold = answer_the_second

    assert shop.admin.put(f"{PATH}/de.json", body()).status_code == 200
    assert len(renderer.requests) == 2

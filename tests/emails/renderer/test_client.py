import json
import socket
import threading

import pytest
from werkzeug import Response

from emails import renderer_client
from emails.renderer_client import (
    MessageTooSlow,
    Rendered,
    RendererBusy,
    RendererLate,
    RendererLost,
    RendererUnavailable,
    RenderRequest,
    RenderWarning,
    TemplateRefused,
    render,
)
from tests.emails.renderer.conftest import MJML

MESSAGE = RenderRequest(
    body_source=MJML.format("Hello {{ name }}"),
    subject_template="For {{ name }}",
    ctx={"name": "Ann"},
    locale="en",
)

ANSWER = {"html": "<p>", "text": "t", "subject": "s", "preheader": None, "warnings": []}


def test_message_is_rendered_by_the_service(renderer_url):
    rendered = render(url=renderer_url, message=MESSAGE)

    assert ">Hello Ann</div>" in rendered.html
    assert rendered.text == "Hello Ann"
    assert rendered.subject == "For Ann"
    assert rendered.preheader is None
    assert rendered.warnings == ()


def test_refused_template_names_code_and_line(renderer_url):
    message = RenderRequest(body_source="a\n{{ | }}", subject_template="s", ctx={}, locale="en")

    with pytest.raises(TemplateRefused) as refused:
        render(url=renderer_url, message=message)

    assert refused.value.code == "template_syntax_error"
    assert (refused.value.field, refused.value.line) == ("body_source", 2)
    assert refused.value.detail.startswith("body_source: ")


def test_request_carries_every_field(httpserver):
    httpserver.expect_oneshot_request("/render", method="POST").respond_with_json(ANSWER)

    render(url=httpserver.url_for("/"), message=MESSAGE)

    request, _ = httpserver.log[0]
    assert request.content_type == "application/json"
    assert json.loads(request.data) == {
        "source_format": "mjml",
        "body_source": MESSAGE.body_source,
        "subject_template": "For {{ name }}",
        "ctx": {"name": "Ann"},
        "locale": "en",
        "preheader_template": None,
        "body_text_template": None,
        "is_trusted": False,
        "is_compiled_once": False,
        "wants_warnings": False,
    }


def test_answer_is_read(httpserver):
    warning = {"line": 3, "tag": "mj-text", "message": "odd", "since": "tomorrow"}
    httpserver.expect_request("/render").respond_with_json(
        {**ANSWER, "preheader": "p", "warnings": [warning], "extra": 1}
    )

    rendered = render(url=httpserver.url_for(""), message=MESSAGE)

    assert rendered == Rendered(
        html="<p>",
        text="t",
        subject="s",
        preheader="p",
        warnings=(RenderWarning(line=3, tag="mj-text", message="odd"),),
    )


def test_client_error_without_a_line_is_a_refusal(httpserver):
    problem = {"code": "body_too_large", "detail": "The body is larger than 256 KiB"}
    httpserver.expect_request("/render").respond_with_json(problem, status=413)

    with pytest.raises(TemplateRefused) as refused:
        render(url=httpserver.url_for(""), message=MESSAGE)

    assert (refused.value.code, refused.value.field, refused.value.line) == ("body_too_large", None, None)
    assert str(refused.value) == "body_too_large: The body is larger than 256 KiB"


@pytest.mark.parametrize(
    "answer",
    [
        Response(json.dumps({"code": "internal_error", "detail": "Internal error"}), status=500),
        Response("<h1>Bad gateway</h1>", status=502),
        Response("<h1>Not found</h1>", status=404),
        Response('{"detail": "no code"}', status=403),
        Response("[]", status=400),
        Response("[]", status=500),
        Response("<p>not json</p>", status=200),
        Response('{"html": "<p>"}', status=200),
        Response("null", status=200),
        Response("", status=302, headers={"Location": "/elsewhere"}),
    ],
    ids=lambda answer: f"{answer.status_code} {answer.get_data(as_text=True)[:12]}",
)
def test_unusable_answer_is_unavailable(httpserver, answer):
    httpserver.expect_request("/render").respond_with_response(answer)

    with pytest.raises(RendererUnavailable):
        render(url=httpserver.url_for(""), message=MESSAGE)


def test_unreachable_service_is_unavailable():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(RendererUnavailable) as raised:
        render(url=f"http://127.0.0.1:{port}", message=MESSAGE)
    assert type(raised.value) is RendererUnavailable


def test_service_that_ends_without_an_answer_is_lost():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def take_one():
            connection, _ = listener.accept()
            with connection:
                connection.recv(1)

        taking = threading.Thread(target=take_one)
        taking.start()
        with pytest.raises(RendererLost):
            render(url=f"http://127.0.0.1:{listener.getsockname()[1]}", message=MESSAGE)
        taking.join()


@pytest.mark.parametrize(
    ("code", "error"), [("renderer_busy", RendererBusy), ("too_slow_for_lane", MessageTooSlow)]
)
def test_busy_service_says_whether_the_message_is_slow(httpserver, code, error):
    httpserver.expect_request("/render").respond_with_json({"code": code}, status=503)

    with pytest.raises(RendererBusy) as raised:
        render(url=httpserver.url_for(""), message=MESSAGE, lane="quick")

    assert type(raised.value) is error
    request, _ = httpserver.log[0]
    assert request.headers["X-Render-Lane"] == "quick"


def test_service_that_never_answers_is_late(monkeypatch):
    monkeypatch.setattr(renderer_client, "TOTAL_TIMEOUT_S", 0.2)

    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(RendererLate):
        render(url=f"http://127.0.0.1:{listener.getsockname()[1]}", message=MESSAGE)


def test_proxy_of_the_environment_is_not_used(httpserver, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    httpserver.expect_request("/render").respond_with_json(ANSWER)

    assert render(url=httpserver.url_for(""), message=MESSAGE).subject == "s"

"""What a merchant could write to spy on, stall or stop the service. It answers each, and goes on working."""

import time

import pytest

from tests.emails.renderer import patient_conf
from tests.emails.renderer.conftest import MJML

# A worker that takes longer is killed, and its client gets no answer.
PATIENCE_S = patient_conf.timeout

ENDLESS_LIQUID = {
    "long loop": "{% for i in (1..99999999) %}{% endfor %}",
    "nested loops": "{% for i in (1..9000) %}{% for j in (1..9000) %}x{% endfor %}{% endfor %}",
    "table of a long range": "{% tablerow i in (1..99999999) %}x{% endtablerow %}",
    "reversed range": "{% for i in (1..999999999999) reversed %}{% endfor %}",
    "list of a range": "{{ (1..999999999999) | reverse | size }}",
    "large output": "{% for i in (1..9999) %}" + "x" * 1000 + "{% endfor %}",
    "doubling": "{% assign a = 'aaaaaaaaaa' %}" + "{% assign a = a | append: a %}" * 40,
    "captured doubling": "{% assign a = 'aaaaaaaaaa' %}"
    + "{% capture a %}{{ a }}{{ a }}{% endcapture %}" * 40,
    "growing replacements": "{{ 'aaaaaaaaaa' " + "| replace: 'a', 'aaaaaaaaaa' " * 20 + "}}",
    "nested blocks": "{% if true %}" * 5_000,
    "nested paths": "{{ " + "a[" * 20_000 + "a" + "]" * 20_000 + " }}",
    "nested conditions": "{% if " + " or ".join(["a"] * 40_000) + " %}{% endif %}",
    "slow to tokenize": "{{" * 100_000,
    "slow to parse": "{{ " + "(" * 100_000 + " }}",
}

INLINED_DIVS = '<mjml><mj-head><mj-style inline="inline">div { color: red; }</mj-style></mj-head>'
DECLARATIONS = "".join(f"--property-{number}:1;" for number in range(10_000))

OVERSIZED_MJML = {
    "many tags": MJML.format("<p>x</p>" * 10_000),
    "deep html": MJML.format("<div>" * 40_000),
    "deep html to be inlined": MJML.format("<div>" * 40_000).replace("<mjml>", INLINED_DIVS),
    "much css to inline": MJML.format("<p>x</p>" * 100).replace(
        "<mjml>", f'<mjml><mj-head><mj-style inline="inline">p {{ {DECLARATIONS} }}</mj-style></mj-head>'
    ),
    "css that multiplies": MJML.format("<p>x</p>" * 600).replace(
        "<mjml>",
        f'<mjml><mj-head><mj-style inline="inline">p {{ {DECLARATIONS[:8000]} }}</mj-style></mj-head>',
    ),
    "css to inline for many tags": MJML.format("<p>x</p>" * 2_000).replace(
        "<mjml>",
        f'<mjml><mj-head><mj-style inline="inline">p {{ {DECLARATIONS[:8000]} }}</mj-style></mj-head>',
    ),
    "deep sections": f"<mjml><mj-body>{'<mj-section>' * 2_000}{'</mj-section>' * 2_000}</mj-body></mjml>",
    "deep html for the text": MJML.format("<div>" * 4_000),
}


@pytest.mark.parametrize("template", ENDLESS_LIQUID.values(), ids=ENDLESS_LIQUID)
def test_costly_liquid_is_stopped_in_time(post, template):
    started = time.monotonic()

    response = post(subject_template=template)

    assert time.monotonic() - started < PATIENCE_S
    assert response.status_code == 422
    assert response.json()["code"] == "template_limit_exceeded"
    assert post().status_code == 200


@pytest.mark.parametrize("source", OVERSIZED_MJML.values(), ids=OVERSIZED_MJML)
def test_oversized_mjml_is_stopped_in_time(post, source):
    started = time.monotonic()

    response = post(body_source=source)

    assert time.monotonic() - started < PATIENCE_S
    assert response.status_code == 422
    assert response.json()["code"] == "template_limit_exceeded"
    assert post().status_code == 200


def test_most_nested_html_within_the_limit_leaves_the_worker_alive(post):
    source = MJML.format("<div>" * 4_980).replace("<mjml>", INLINED_DIVS)

    response = post(body_source=source, body_text_template="text")

    assert response.status_code == 200


@pytest.mark.parametrize(
    "include",
    [
        '<mj-include path="/etc/passwd" />',
        '<mj-include path="/etc/passwd"></mj-include>',
        '<mj-include path="/etc/passwd" type="css" />',
        '<mj-include path="/etc/passwd" type="html" />',
        '<MJ-INCLUDE path="file:///etc/passwd" />',
    ],
)
def test_mjml_include_is_left_out_with_a_warning(post, include):
    source = MJML.format("Hello").replace("<mj-section>", f"\n{include}<mj-section>")

    rendered = post(body_source=source).json()

    assert "root:" not in rendered["html"]
    assert rendered["text"] == "Hello"
    assert rendered["warnings"] == [
        {"line": 2, "tag": "mj-include", "message": "Includes are not supported; this one was removed"}
    ]


@pytest.mark.parametrize(
    "content",
    [
        '<link rel="stylesheet" href="/etc/passwd">',
        '<link rel="stylesheet" href="file:///etc/passwd">',
        '<style>@import "/etc/passwd";</style>',
    ],
)
def test_linked_files_are_not_read(post, content):
    source = MJML.format(content).replace("<mjml>", INLINED_DIVS)

    response = post(body_source=source)

    assert response.status_code == 200
    assert "root:" not in response.json()["html"]


@pytest.mark.parametrize(
    "template",
    [
        "{% include '/etc/passwd' %}",
        "{% render '/etc/passwd' %}",
        "{{ '<script>' | safe }}",
        "{{ '<script>' | escapejs }}",
    ],
)
def test_includes_and_raw_output_are_no_part_of_the_language(post, template):
    response = post(body_source=MJML.format(template))

    assert response.status_code == 422
    assert response.json()["code"] == "template_syntax_error"


@pytest.mark.parametrize(
    "path",
    [
        "name.__class__",
        "name['__class__']",
        "name.upper",
        "list.append",
        "forloop.__init__",
        "now.__class__",
        "money.__globals__",
    ],
)
def test_python_attributes_are_out_of_reach(post, path):
    subject = post(subject_template=f"[{{{{ {path} }}}}]", ctx={"name": "Ann", "list": [1]}).json()["subject"]

    assert subject == "[]"


@pytest.mark.parametrize(
    "filters",
    [
        "escape | strip_html",
        "escape | url_decode",
        "escape_once",
        "url_encode | url_decode",
        "base64_encode | base64_decode",
        "newline_to_br",
        "strip_newlines",
        "split: '' | join: ''",
        "append: '' | prepend: ''",
        "default: '' | upcase",
        "date: '%Y'",
        "country",
    ],
)
def test_no_filter_lets_markup_through(post, filters):
    source = MJML.format("{{ name | " + filters + " }}")

    html = post(body_source=source, ctx={"name": "<script>x</script>"}).json()["html"]

    assert "<script" not in html.lower()


def test_variable_is_not_a_template(post):
    rendered = post(subject_template="{{ name }}", ctx={"name": "{{ secret }}{% if %}", "secret": "s"}).json()

    assert rendered["subject"] == "{{ secret }}{% if %}"

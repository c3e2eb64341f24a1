import pytest

from tests.emails.renderer.conftest import MJML


def test_message_is_rendered(post):
    response = post(
        body_source=MJML.format("Hello {{ customer.name }}"),
        subject_template="Order {{ number }}",
        preheader_template="For {{ customer.name }}",
        body_text_template="Dear {{ customer.name }}",
        ctx={"number": "1001", "customer": {"name": "Ann"}},
    )

    assert response.status_code == 200
    rendered = response.json()
    html = rendered.pop("html")
    assert html.startswith("<!doctype html>")
    assert ">Hello Ann</div>" in html
    assert rendered == {
        "text": "Dear Ann",
        "subject": "Order 1001",
        "preheader": "For Ann",
        "warnings": [],
    }


def test_optional_fields_may_be_left_out(post):
    response = post(ctx=..., locale=..., preheader_template=..., body_text_template=...)

    assert response.status_code == 200
    assert response.json()["preheader"] is None
    assert response.json()["text"] == "Hello"


def test_unknown_keys_are_ignored(post):
    assert post(theme="dark").status_code == 200


def test_every_wrong_field_is_named(post):
    response = post(
        source_format="html",
        body_source=...,
        subject_template=5,
        ctx=[],
        preheader_template=1,
        locale="../en",
        is_trusted=1,
        is_compiled_once=1,
    )

    assert response.status_code == 422
    problem = response.json()
    assert problem["code"] == "invalid_request"
    assert [(error["field"], error["code"]) for error in problem["errors"]] == [
        ("source_format", "not_supported"),
        ("body_source", "required"),
        ("subject_template", "invalid"),
        ("ctx", "invalid"),
        ("locale", "invalid"),
        ("preheader_template", "invalid"),
        ("is_trusted", "invalid"),
        ("is_compiled_once", "invalid"),
    ]


def test_empty_source_format_is_none_that_is_known(post):
    response = post(source_format="")

    assert response.status_code == 422
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [
        ("source_format", "not_supported")
    ]


def test_variables_are_escaped_in_html_but_not_in_subject_and_text(post):
    rendered = post(
        body_source=MJML.format("{{ name }}"),
        subject_template="{{ name }}",
        body_text_template="{{ name }}",
        ctx={"name": "<b>Ann & Co</b>"},
    ).json()

    assert "&lt;b&gt;Ann &amp; Co&lt;/b&gt;" in rendered["html"]
    assert "<b>" not in rendered["html"]
    assert rendered["subject"] == "<b>Ann & Co</b>"
    assert rendered["text"] == "<b>Ann & Co</b>"


def test_variable_can_not_end_its_attribute(post):
    source = MJML.format("x").replace("<mj-text>x</mj-text>", '<mj-button href="{{ url }}">Pay</mj-button>')

    html = post(body_source=source, ctx={"url": 'https://x.test/?a=1&b=2" onclick="steal()'}).json()["html"]

    assert 'href="https://x.test/?a=1&amp;b=2&quot; onclick=&quot;steal()"' in html


def test_undefined_variables_are_empty(post):
    assert post(subject_template="[{{ nothing.at.all }}]").json()["subject"] == "[]"


def test_subject_and_preheader_are_single_lines(post):
    rendered = post(
        subject_template="Order\r\nBcc: {{ name }}\n",
        preheader_template="First\n  second\x00\t{{ name }}",
        ctx={"name": "a\nb\u2028c"},
    ).json()

    assert rendered["subject"] == "Order Bcc: a b c"
    assert rendered["preheader"] == "First second a b c"


@pytest.mark.parametrize(
    "head",
    ["", "<mj-head />", "<mj-head></mj-head>", "<mj-head><mj-preview>Old</mj-preview></mj-head>"],
)
def test_preheader_becomes_the_hidden_preview(post, head):
    source = MJML.format("Hello").replace("<mjml>", f"<mjml>{head}")

    rendered = post(body_source=source, preheader_template="{{ a }}", ctx={"a": "Save <5 %>"}).json()

    assert rendered["html"].count("Save &lt;5 %&gt;") == 1
    assert "Old" not in rendered["html"]
    assert rendered["preheader"] == "Save <5 %>"
    assert rendered["text"] == "Hello"
    assert rendered["warnings"] == []


def test_css_is_inlined(post):
    source = MJML.format('<p class="note">Hi</p>').replace(
        "<mjml>", '<mjml><mj-head><mj-style inline="inline">.note { color: red; }</mj-style></mj-head>'
    )

    html = post(body_source=source).json()["html"]

    assert '<p class="note" style="color: red;">Hi</p>' in html


def test_mjml_findings_are_warnings_with_line_and_tag(post):
    source = "<mjml><mj-body>\n<mj-section colour='red'>\n<mj-text>Hi</mj-text></mj-section></mj-body></mjml>"

    response = post(body_source=source)

    assert response.status_code == 200
    assert response.json()["warnings"] == [
        {"line": 2, "tag": "mj-section", "message": "Attribute colour is illegal"},
        {
            "line": 3,
            "tag": "mj-text",
            "message": "mj-text cannot be used inside mj-section, only inside: "
            "mj-attributes, mj-column, mj-hero",
        },
    ]


@pytest.mark.parametrize(
    ("source", "line", "detail"),
    [
        ("<mjml>\n<mj-body>\n<mj-text>Hi\n</mj-body></mjml>", 3, "<mj-text> is never closed."),
        ("<mjml>\n<mj-body>\n", 2, "<mj-body> is never closed."),
        ("<mjml><mj-body>\n</mj-column></mj-body></mjml>", 2, "</mj-column> has no opening tag."),
        ("<mjml><mj-body></mj-body></mjml>\n</mjml>", 2, "</mjml> has no opening tag."),
    ],
)
def test_unbalanced_tags_are_refused_with_their_line(post, source, line, detail):
    response = post(body_source=source)

    assert response.status_code == 422
    assert response.json()["code"] == "invalid_mjml"
    assert response.json()["line"] == line
    assert response.json()["detail"] == detail


@pytest.mark.parametrize("source", ["", "Hello", "<mjml></mjml>", "<mj-body></mj-body>"])
def test_source_without_an_mjml_body_is_refused(post, source):
    response = post(body_source=source)

    assert response.status_code == 422
    assert response.json()["code"] == "invalid_mjml"


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("one\n{{ a | }}", 2),
        ("one\ntwo\n{{ a | no_such_filter }}", 3),
        ("{% no_such_tag %}", 1),
        ("one\n{% if %}{% endif %}", 2),
        ("one\n{{ 'x' | money: 'EUR' }}", 2),
        ("one\n{{ 1 | divided_by: 0 }}", 2),
    ],
)
@pytest.mark.parametrize(
    "field", ["subject_template", "preheader_template", "body_source", "body_text_template"]
)
def test_broken_liquid_is_refused_with_field_and_line(post, field, template, line):
    response = post(**{field: template})

    assert response.status_code == 422
    problem = response.json()
    assert problem["code"] == "template_syntax_error"
    assert problem["line"] == line
    assert problem["errors"][0]["field"] == field
    assert problem["detail"] == f"{field}: {problem['errors'][0]['detail']}"


@pytest.mark.parametrize("template", ["{{ '1e400' | ceil }}", "{{ '/////w==' | base64_decode }}"])
def test_value_that_a_filter_can_not_take_is_refused(post, template):
    response = post(subject_template=template)

    assert response.status_code == 422
    assert response.json()["code"] == "template_syntax_error"


def test_context_may_use_any_name(post):
    rendered = post(
        subject_template="{{ self }} {{ locale }} {{ args }}", ctx={"self": 1, "locale": "de", "args": 2}
    )

    assert rendered.json()["subject"] == "1 de 2"


def test_context_never_leaks_into_the_next_message(post):
    post(subject_template="{% assign kept = 'x' %}{{ secret }}", ctx={"secret": "s"})

    assert post(subject_template="[{{ kept }}{{ secret }}]").json()["subject"] == "[]"


@pytest.mark.parametrize("part", ["subject", "preheader"])
def test_line_that_is_too_long_for_a_header_is_cut_with_a_warning(post, part):
    endless = "{% for i in (1..1150) %}" + "S" * 900 + "{% endfor %}"

    rendered = post(**{f"{part}_template": endless}).json()

    assert rendered[part] == "S" * 997 + "…"
    assert rendered["warnings"] == [{"line": None, "tag": part, "message": "Cut to 998 characters"}]
    assert len(rendered["html"]) < 20_000


def test_line_as_long_as_a_header_is_kept(post):
    rendered = post(subject_template="x" * 998).json()

    assert (rendered["subject"], rendered["warnings"]) == ("x" * 998, [])


def test_many_warnings_are_counted(post):
    unknown = "<mj-" + "x" * 180 + " />"
    source = MJML.format("Hi").replace("</mj-section>", "</mj-section>" + unknown * 130)

    warnings = post(body_source=source).json()["warnings"]

    assert len(warnings) == 101
    assert {warning["tag"] for warning in warnings[:100]} == {"mj-" + "x" * 97}
    assert all(len(warning["message"]) <= 300 for warning in warnings)
    (rest,) = warnings[100:]
    assert (rest["line"], rest["tag"]) == (None, "mjml")
    assert rest["message"].endswith(" more warnings are not shown")


@pytest.mark.parametrize(
    "part", ["subject_template", "preheader_template", "body_text_template", "body_source"]
)
def test_no_part_has_a_null_character(post, part):
    nul = "a{{ '%00' | url_decode }}b"

    rendered = post(**{part: MJML.format(nul) if part == "body_source" else nul})

    assert rendered.status_code == 200
    assert "\\u0000" not in rendered.text
    if part in {"body_source", "body_text_template"}:
        assert rendered.json()["text"] == "ab"


def test_null_character_in_a_tag_is_in_no_warning(post):
    source = MJML.format("Hi").replace("</mj-section>", "</mj-section><mj-a{{ '%00' | url_decode }}b />")

    (warning,) = post(body_source=source).json()["warnings"]

    assert warning["tag"] == "mj-ab"

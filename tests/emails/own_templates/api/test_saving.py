import pytest

from emails.own_templates import operations
from tests.emails.own_templates.conftest import KEY, PATH, body, states, template_error, versions
from tests.emails.renderer.conftest import MJML
from tests.problems import field_errors, problem


def test_saved_template_is_in_force(shop, renderer):
    sent = body(preheader="Soon", body_text="Text", note="First")

    answer = shop.admin.put(f"{PATH}/de.json", sent)

    assert answer.status_code == 200
    template = answer.json()["email_template"]
    assert template["author"].startswith("key:")
    assert template["updated_at"]
    assert template | {"author": None, "updated_at": None} == {
        "template_key": KEY,
        "locale": "de",
        "source": "account",
        "source_locale": "de",
        "version": 1,
        "subject": sent["subject"],
        "preheader": "Soon",
        "body_source": sent["body_source"],
        "body_text": "Text",
        "note": "First",
        "author": None,
        "updated_at": None,
        "warnings": [],
    }
    assert shop.admin.get(f"{PATH}/de.json").json() == answer.json()


def test_saved_template_has_what_was_not_given_as_null(shop, renderer):
    template = shop.admin.put(f"{PATH}/de.json", body(preheader="", note="")).json()["email_template"]

    assert (template["preheader"], template["body_text"], template["note"]) == (None, None, None)


def test_saved_template_may_be_of_a_locale_that_the_platform_has_not(shop, renderer):
    shop.admin.put(f"{PATH}/fr.json", body())

    assert states(shop.admin)[KEY, "fr"] == ("account", 1)


def test_template_is_saved_again_for_the_version_that_was_read(shop, renderer):
    shop.admin.put(f"{PATH}/de.json", body())

    second = shop.admin.put(f"{PATH}/de.json", body(subject="Two", expected_version=1))

    assert second.json()["email_template"]["version"] == 2
    assert second.json()["email_template"]["subject"] == "Two"
    assert versions(shop) == [("de", 1, "saved"), ("de", 2, "saved")]


@pytest.mark.parametrize("expected_version", [0, 1, 3])
def test_template_for_another_version_than_the_last_is_refused(
    shop, renderer, make_version, expected_version
):
    make_version(shop, locale="de", number=1)
    make_version(shop, locale="de", number=2)

    answer = shop.admin.put(f"{PATH}/de.json", body(expected_version=expected_version))

    assert problem(answer) == (409, "version_conflict")
    assert answer.json()["current_version"] == 2
    assert versions(shop) == [("de", 1, "saved"), ("de", 2, "saved")]


def test_template_with_an_error_in_liquid_is_refused_with_its_line(shop, renderer):
    answer = shop.admin.put(f"{PATH}/de.json", body(body_source="<mjml>\n{% if %}\n</mjml>"))

    assert template_error(answer) == ("body_source", "template_syntax_error", 2)
    assert versions(shop) == []


@pytest.mark.parametrize("field", ["subject", "preheader", "body_text"])
def test_template_with_an_error_in_another_part_names_it(shop, renderer, field):
    answer = shop.admin.put(f"{PATH}/de.json", body(**{field: "{{ | }}"}))

    assert template_error(answer) == (field, "template_syntax_error", 1)


def test_template_with_an_error_in_mjml_is_refused_with_its_line(shop, renderer):
    answer = shop.admin.put(f"{PATH}/de.json", body(body_source="<mjml>\n<mj-body>\n</mjml>"))

    assert template_error(answer) == ("body_source", "invalid_mjml", 2)
    assert versions(shop) == []


def test_template_that_costs_too_much_is_refused(shop, renderer):
    endless = "{% for a in (1..9999) %}{% for b in (1..9999) %}x{% endfor %}{% endfor %}"

    answer = shop.admin.put(f"{PATH}/de.json", body(body_source=endless))

    assert template_error(answer) == ("body_source", "template_limit_exceeded", 1)
    assert versions(shop) == []


def test_template_with_something_odd_is_saved_with_warnings(shop, renderer):
    odd = MJML.format("Hello").replace("<mj-text>", '\n<mj-text colour="red">')

    answer = shop.admin.put(f"{PATH}/de.json", body(body_source=odd))

    (warning,) = answer.json()["email_template"]["warnings"]
    assert (warning["line"], warning["tag"]) == (2, "mj-text")
    assert "colour" in warning["message"]
    listed = shop.admin.get(f"{PATH}/de/versions.json").json()["email_template_versions"]
    assert listed[0]["warnings"] == [warning]


def test_template_is_not_saved_without_the_renderer(shop, no_renderer):
    answer = shop.admin.put(f"{PATH}/de.json", body())

    assert problem(answer) == (502, "renderer_failed")
    assert "127.0.0.1" not in answer.json()["detail"]
    assert versions(shop) == []


@pytest.mark.parametrize(
    ("fields", "field", "code"),
    [
        ({"expected_version": ...}, "expected_version", "required"),
        ({"expected_version": -1}, "expected_version", "min_value"),
        ({"expected_version": 2**31}, "expected_version", "max_value"),
        ({"subject": ""}, "subject", "blank"),
        ({"subject": "x" * 1001}, "subject", "max_length"),
        ({"body_source": ...}, "body_source", "required"),
        ({"body_source": "x" * (64 * 1024 + 1)}, "body_source", "max_length"),
        ({"body_text": "x" * (24 * 1024 + 1)}, "body_text", "max_length"),
        ({"body_source": "a\x00"}, "body_source", "null_characters_not_allowed"),
        ({"note": "x" * 501}, "note", "max_length"),
    ],
)
def test_template_with_a_bad_field_is_refused(shop, no_renderer, fields, field, code):
    sent = {name: value for name, value in body(**fields).items() if value is not ...}

    answer = shop.admin.put(f"{PATH}/de.json", sent)

    assert problem(answer) == (422, "validation_failed")
    assert field_errors(answer) == {(field, code)}


def test_template_of_one_locale_too_many_is_refused(shop, renderer, make_version, monkeypatch):
    monkeypatch.setattr(operations, "MAX_LOCALES", 2)
    make_version(shop, locale="de")
    make_version(shop, locale="en")

    answer = shop.admin.put(f"{PATH}/fr.json", body())
    again = shop.admin.put(f"{PATH}/de.json", body(expected_version=1))

    assert field_errors(answer) == {("locale", "too_many")}
    assert again.status_code == 200


@pytest.mark.parametrize(
    "source",
    [
        "{% include '../settings' %}",
        "{% render 'order' %}",
        "{{ order.number | safe }}",
    ],
)
def test_template_that_reaches_for_more_than_its_variables_is_refused(shop, renderer, source):
    answer = shop.admin.put(f"{PATH}/de.json", body(body_source=MJML.format(source)))

    assert template_error(answer) == ("body_source", "template_syntax_error", 1)
    assert versions(shop) == []


def test_template_finds_no_attributes_and_no_files(shop, renderer):
    source = MJML.format("[{{ account.__class__ }}{{ order.number.__len__ }}{{ settings }}]")
    source = source.replace("<mj-body>", '<mj-body><mj-include path="/etc/passwd" />')

    shop.admin.put(f"{PATH}/de.json", body(body_source=source))

    shown = shop.admin.post(f"{PATH}/de/preview.json", {}).json()
    assert shown["text"] == "[]"
    assert "root:" not in shown["html"]
    assert [warning["tag"] for warning in shown["warnings"]] == ["mj-include"]


def test_template_whose_subject_is_too_long_is_saved_with_a_warning(shop, renderer):
    """It isn't refused: a real message may have a longer title than the sample, and must be sent."""
    endless = "{% for i in (1..1150) %}" + "S" * 900 + "{% endfor %}"

    answer = shop.admin.put(f"{PATH}/de.json", body(subject=endless))

    assert answer.status_code == 200
    assert answer.json()["email_template"]["warnings"] == [
        {"line": None, "tag": "subject", "message": "Cut to 998 characters"}
    ]
    shown = shop.admin.post(f"{PATH}/de/preview.json", {}).json()
    assert shown["subject"] == "S" * 997 + "…"
